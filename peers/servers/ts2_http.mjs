// A server on the TypeScript SDK 2.x, over HTTP in both eras: sessions for the
// handshake, a server for each request otherwise.
//
// ts2_http.mjs [MODE], where MODE is auto, sse or json: how requests of the
// stateless era are answered. With sessionless there are no sessions for the
// handshake either, which is what the SDK does unless told. The system chooses
// the port, which is the first line on standard output.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const installed = createRequire(new URL('../../target/peers/node/', import.meta.url));
const {
    McpServer,
    WebStandardStreamableHTTPServerTransport: SessionTransport,
    acceptedContent,
    createMcpHandler,
    inputRequired,
    isLegacyRequest,
} = installed('@modelcontextprotocol/server');
const { toNodeHandler } = installed('@modelcontextprotocol/node');
const { z } = installed('zod');

const NOTE = 'note://today';
const SEAT = z.object({ row: z.number(), window: z.boolean() });
const CONSENT = z.object({ agreed: z.boolean() });

let note = 'nothing yet';
// The sessions of the handshake era: transport, server and subscriptions.
const sessions = new Map();

const mode = process.argv[2] ?? 'auto';
const sessionless = mode === 'sessionless';
const stateless = sessionless
    ? createMcpHandler(() => offered())
    : createMcpHandler(() => offered(), { legacy: 'reject', responseMode: mode });

function offered() {
    const server = new McpServer(
        { name: 'ts2-http', version: '1.0.0' },
        { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: 'Knots only.' },
    );
    const add = { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) };
    server.registerTool('add', add, ({ a, b }) => ({ ...said(String(a + b)), structuredContent: { sum: a + b } }));
    server.registerTool('book', { inputSchema: z.object({ flight: z.string() }) }, book);
    server.registerTool('count', { inputSchema: z.object({ to: z.number() }) }, count);
    server.registerTool('write', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => write(text));
    server.registerResource('today', NOTE, { mimeType: 'text/plain' }, () => ({ contents: [{ uri: NOTE, text: note }] }));
    server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name} warmly.` } }],
    }));
    return server;
}

function said(text) {
    return { content: [{ type: 'text', text }] };
}

/** Asks twice, one after the other: the seat of the first round travels. */
function book({ flight }, { mcpReq }) {
    const kept = mcpReq.requestState();
    const seat = kept ? JSON.parse(kept) : acceptedContent(mcpReq.inputResponses, 'seat', SEAT);
    const form = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });
    if (!seat) return inputRequired({ inputRequests: { seat: form(`Which seat on ${flight}?`, SEAT) } });
    const consent = acceptedContent(mcpReq.inputResponses, 'consent', CONSENT);
    if (!consent) {
        const consent = form(`Book ${flight}?`, CONSENT);
        return inputRequired({ inputRequests: { consent }, requestState: JSON.stringify(seat) });
    }
    const place = seat.window ? 'window' : 'aisle';
    return said(`${flight}: row ${seat.row}, ${place}, ${consent.agreed ? 'agreed' : 'refused'}`);
}

async function count({ to }, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1) {
        if (progressToken === undefined) continue;
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: to } });
    }
    await mcpReq.log('warning', `counted to ${to}`);
    return said(`counted to ${to}`);
}

async function write(text) {
    note = text;
    stateless.notify.resourceUpdated(NOTE);
    for (const { server, subscribed } of sessions.values()) {
        if (subscribed.has(NOTE)) await server.server.sendResourceUpdated({ uri: NOTE });
    }
    return said('written');
}

async function inSession(request) {
    const id = request.headers.get('mcp-session-id');
    const known = sessions.get(id);
    if (known) return known.transport.handleRequest(request);
    if (id) return new Response(null, { status: 404 });
    const session = { server: offered(), subscribed: new Set() };
    session.transport = new SessionTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, session),
        onsessionclosed: (id) => void sessions.delete(id),
    });
    const { server } = session.server;
    server.setRequestHandler('resources/subscribe', ({ params }) => {
        session.subscribed.add(params.uri);
        return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        session.subscribed.delete(params.uri);
        return {};
    });
    await session.server.connect(session.transport);
    return session.transport.handleRequest(request);
}

async function serve(request) {
    const older = !sessionless && (await isLegacyRequest(request));
    return older ? inSession(request) : stateless.fetch(request);
}

const handler = toNodeHandler({ fetch: serve });
const listener = createServer((request, response) => void handler(request, response));
listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
