// Drives a server with the TypeScript SDK 2.x: both eras.

import { PATIENCE, drive, installed } from './drive.mjs';

const {
    Client,
    LOG_LEVEL_META_KEY,
    ProtocolError,
    StreamableHTTPClientTransport: Http,
} = installed('@modelcontextprotocol/client');
const { StdioClientTransport: Stdio } = installed('@modelcontextprotocol/client/stdio');

const MODES = { handshake: 'legacy', stateless: { pin: '2026-07-28' }, auto: 'auto' };

await drive({ Stdio, Http }, ({ transport, scenario, record }) => {
    const { elicitation, sampling, roots } = scenario.capabilities ?? {};
    const capabilities = {};
    if (elicitation) capabilities.elicitation = elicitation === true ? { form: {}, url: {} } : elicitation;
    if (sampling) capabilities.sampling = sampling === true ? {} : sampling;
    if (roots) capabilities.roots = { listChanged: true };

    const versionNegotiation = { mode: MODES[scenario.era ?? 'auto'] };
    const client = new Client({ name: 'bowline-ts2', version: '1.0.0' }, { capabilities, versionNegotiation });
    const refuse = (code, message) => new ProtocolError(code, message);
    const answer = (request) => record.answer(request, refuse);
    if (elicitation) client.setRequestHandler('elicitation/create', answer);
    if (sampling) client.setRequestHandler('sampling/createMessage', answer);
    if (roots) client.setRequestHandler('roots/list', answer);
    client.fallbackNotificationHandler = async (notice) => record.notified(notice);
    client.onerror = (error) => record.complained(error);

    const state = { client, listening: new Map() };
    return {
        async connect() {
            await client.connect(transport, PATIENCE);
            state.stateless = client.getProtocolEra() === 'modern';
        },
        opened: () => ({
            version: client.getNegotiatedProtocolVersion(),
            server: client.getServerVersion(),
            capabilities: client.getServerCapabilities(),
            instructions: client.getInstructions(),
        }),
        async log(level) {
            // In the stateless era each request says what it wants to hear.
            if (state.stateless) state.meta = { _meta: { [LOG_LEVEL_META_KEY]: level } };
            else await client.setLoggingLevel(level, PATIENCE);
        },
        perform: (action, options) => perform(state, action, options),
        close: () => client.close(),
    };
});

async function perform({ client, stateless, meta, listening }, action, options) {
    const { list, call, read, prompt, complete, subscribe, unsubscribe } = action;
    const quiet = { ...options, onprogress: undefined, cacheMode: action.fresh ? 'refresh' : 'use' };
    if (list === 'tools') return client.listTools(meta, quiet);
    if (list === 'prompts') return client.listPrompts(meta, quiet);
    if (list === 'resources') return client.listResources(meta, quiet);
    if (list === 'templates') return client.listResourceTemplates(meta, quiet);
    if (call) return client.callTool({ name: call, arguments: action.arguments, ...meta }, options);
    if (read) return client.readResource({ uri: read, ...meta }, quiet);
    if (prompt) return client.getPrompt({ name: prompt, arguments: action.arguments, ...meta }, quiet);
    if (complete) return client.complete({ ...complete, ...meta }, quiet);
    if (action.ping) return client.ping(quiet);
    if (!stateless) {
        if (subscribe) return client.subscribeResource({ uri: subscribe }, quiet);
        if (unsubscribe) return client.unsubscribeResource({ uri: unsubscribe }, quiet);
        // News of lists comes unasked.
        if (action.listen) return {};
    }
    if (subscribe || action.listen) {
        const filter = action.listen ?? { resourceSubscriptions: [subscribe] };
        const stream = await client.listen(filter, PATIENCE);
        if (subscribe) listening.set(subscribe, stream);
        return stream.honoredFilter;
    }
    if (unsubscribe) {
        await listening.get(unsubscribe).close();
        return {};
    }
    throw new Error(`no such action: ${JSON.stringify(action)}`);
}
