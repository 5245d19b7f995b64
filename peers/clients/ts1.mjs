// Drives a server with the TypeScript SDK 1.x: the handshake only.

import { PATIENCE, drive, installed } from './drive.mjs';

const { Client } = installed('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport: Stdio } = installed('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport: Http } = installed('@modelcontextprotocol/sdk/client/streamableHttp.js');
const {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    McpError,
} = installed('@modelcontextprotocol/sdk/types.js');

await drive({ Stdio, Http }, ({ transport, scenario, record }) => {
    const { elicitation, sampling, roots } = scenario.capabilities ?? {};
    const capabilities = {};
    if (elicitation) capabilities.elicitation = elicitation === true ? { form: {}, url: {} } : elicitation;
    if (sampling) capabilities.sampling = sampling === true ? {} : sampling;
    if (roots) capabilities.roots = { listChanged: true };

    const client = new Client({ name: 'bowline-ts1', version: '1.0.0' }, { capabilities });
    const refuse = (code, message) => new McpError(code, message);
    const answer = (request) => record.answer(request, refuse);
    if (elicitation) client.setRequestHandler(ElicitRequestSchema, answer);
    if (sampling) client.setRequestHandler(CreateMessageRequestSchema, answer);
    if (roots) client.setRequestHandler(ListRootsRequestSchema, answer);
    client.fallbackNotificationHandler = async (notice) => record.notified(notice);
    client.onerror = (error) => record.complained(error);

    const state = {};
    return {
        async connect() {
            if (scenario.era === 'stateless') throw new Error('this SDK knows no stateless era');
            // The SDK tells the revision to its transport, and nobody else.
            const told = transport.setProtocolVersion?.bind(transport);
            transport.setProtocolVersion = (version) => {
                state.version = version;
                told?.(version);
            };
            await client.connect(transport, PATIENCE);
        },
        opened: () => ({
            version: state.version,
            server: client.getServerVersion(),
            capabilities: client.getServerCapabilities(),
            instructions: client.getInstructions(),
        }),
        log: (level) => client.setLoggingLevel(level, PATIENCE),
        perform: (action, options) => perform(client, action, options),
        close: () => client.close(),
    };
});

async function perform(client, action, options) {
    const { list, call, read, prompt, complete, subscribe, unsubscribe } = action;
    const quiet = { ...options, onprogress: undefined };
    if (list === 'tools') return pages((page) => client.listTools(page, quiet), 'tools');
    if (list === 'prompts') return pages((page) => client.listPrompts(page, quiet), 'prompts');
    if (list === 'resources') return pages((page) => client.listResources(page, quiet), 'resources');
    if (list === 'templates') return pages((page) => client.listResourceTemplates(page, quiet), 'resourceTemplates');
    if (call && action.task) return callAsTask(client, action, quiet);
    if (call) return client.callTool({ name: call, arguments: action.arguments }, undefined, options);
    if (read) return client.readResource({ uri: read }, quiet);
    if (prompt) return client.getPrompt({ name: prompt, arguments: action.arguments }, quiet);
    if (complete) return client.complete(complete, quiet);
    if (subscribe) return client.subscribeResource({ uri: subscribe }, quiet);
    if (unsubscribe) return client.unsubscribeResource({ uri: unsubscribe }, quiet);
    // News of lists comes unasked.
    if (action.listen) return {};
    if (action.ping) return client.ping(quiet);
    throw new Error(`no such action: ${JSON.stringify(action)}`);
}

/** The result of a call that runs as a task, which the SDK follows, with its statuses. */
async function callAsTask(client, action, options) {
    const { call, task } = action;
    const params = { name: call, arguments: action.arguments };
    const statuses = [];
    for await (const message of client.experimental.tasks.callToolStream(params, undefined, { ...options, task })) {
        if (message.type === 'error') throw message.error;
        if (message.type === 'result') return { ...message.result, statuses };
        statuses.push(message.task.status);
    }
    throw new Error('the stream of the task has no end');
}

/** All pages as one: this SDK leaves that to its user. */
async function pages(fetch, key) {
    const all = await fetch({});
    let { nextCursor } = all;
    while (nextCursor !== undefined) {
        const page = await fetch({ cursor: nextCursor });
        all[key].push(...page[key]);
        nextCursor = page.nextCursor;
    }
    delete all.nextCursor;
    return all;
}
