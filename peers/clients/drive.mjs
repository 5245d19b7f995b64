// What the drivers of the two TypeScript SDKs share: everything that no SDK
// has a say in. README.md says what goes in and what comes out.

import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

import { ended, watchProcesses, watchedFetch } from './wire.mjs';

// When a driver gives up. Whoever started it waits longer than this.
const DEADLINE_MS = 60_000;

/** Loads a module of those that `cargo xtask peers` has installed. */
export const installed = createRequire(new URL('../../target/peers/node/', import.meta.url));

/** How long one request may take: never the reason for a failure by itself. */
export const PATIENCE = { timeout: DEADLINE_MS };

/**
 * Runs the scenario on standard input with the client that `open` makes, and
 * writes what happened to standard output. `transports` has the SDK's own for
 * each wire.
 */
export async function drive(transports, open) {
    // Standard output is for the document; an SDK may have remarks.
    for (const kind of ['debug', 'info', 'log']) console[kind] = console.error;
    const scenario = JSON.parse(await text(process.stdin));
    const record = new Record(scenario);
    const processes = watchProcesses(record.document);
    const deadline = setTimeout(async () => {
        record.document.faults.push('the deadline passed');
        for (const child of processes) child.kill('SIGKILL');
        await Promise.all(processes.map(ended));
        finish(record);
    }, DEADLINE_MS);
    const transport = dial(transports, process.argv.slice(2), record.document);
    const client = await open({ transport, scenario, record });
    try {
        await client.connect();
        Object.assign(record.document, client.opened());
        if (scenario.log) await client.log(scenario.log);
        for (const action of scenario.do ?? []) {
            record.document.done.push(await perform(client, action, record));
        }
    } catch (error) {
        record.document.error = describe(error);
    }
    record.closing = true;
    await hangUp(client, transport, record);
    await Promise.all(processes.map(ended));
    clearTimeout(deadline);
    finish(record);
}

/** A transport to a server that is a URL, or else a command to start. */
function dial({ Stdio, Http }, [command, ...args], document) {
    if (!/^https?:/.test(command)) return new Stdio({ command, args });
    return new Http(new URL(command), { fetch: watchedFetch(document) });
}

/** Closes. The SDKs leave it to their users to say that a session is over. */
async function hangUp(client, transport, { document }) {
    try {
        await transport.terminateSession?.();
    } catch (error) {
        document.complaints.push(`the session does not end: ${error.message}`);
    }
    await client.close();
}

function finish(record) {
    record.document.left = { elicit: record.elicit.length, sample: record.sample.length };
    process.stdout.write(`${JSON.stringify(record.document)}\n`, () => process.exit(0));
}

/** What is asked and told on the way, and the answers that are still to give. */
class Record {
    constructor(scenario) {
        this.elicit = [...(scenario.elicit ?? [])];
        this.sample = [...(scenario.sample ?? [])];
        this.roots = scenario.capabilities?.roots ?? [];
        this.taken = new Map();
        this.waiting = [];
        this.document = { done: [], asked: [], notifications: [], complaints: [], faults: [], frames: [] };
        Object.assign(this.document, { processes: [], exchanges: [] });
    }

    /** The answer to a question of the server: `refuse` makes an error of the SDK's. */
    answer({ method, params }, refuse) {
        this.document.asked.push({ method, params });
        if (method === 'roots/list') return { roots: this.roots.map((uri) => ({ uri })) };
        const queue = method === 'elicitation/create' ? this.elicit : this.sample;
        if (queue.length === 0) {
            this.document.faults.push(`no answer is left for ${method}`);
            throw refuse(-32603, 'no answer is left');
        }
        const answer = queue.shift();
        if (answer.error) throw refuse(answer.error.code, answer.error.message);
        if (typeof answer !== 'string') return answer;
        const content = { type: 'text', text: answer };
        return { role: 'assistant', content, model: 'queued', stopReason: 'endTurn' };
    }

    notified({ method, params }) {
        this.document.notifications.push({ method, params });
        for (const wake of this.waiting.splice(0)) wake();
    }

    complained(error) {
        const complaint = String(error?.message ?? error);
        // What is under way when the driver leaves is no fault of the server's.
        // Nor is progress that comes right before the result: both SDKs look at
        // the result first if they read the two at once.
        const late = complaint.startsWith('Received a progress notification for an unknown token');
        if (!this.closing && !late) this.document.complaints.push(complaint);
    }

    /** The next notification of a method that nobody has waited for yet. */
    async next(method) {
        for (;;) {
            const told = this.document.notifications.filter((notice) => notice.method === method);
            const taken = this.taken.get(method) ?? 0;
            if (taken < told.length) {
                this.taken.set(method, taken + 1);
                return told[taken].params ?? {};
            }
            await new Promise((wake) => this.waiting.push(wake));
        }
    }
}

async function perform(client, action, record) {
    if (action.together) {
        const all = action.together.map((one) => perform(client, one, record));
        return { together: await Promise.all(all) };
    }
    const outcome = { progress: [] };
    const cancel = new AbortController();
    const onprogress = (progress) => {
        outcome.progress.push(progress);
        if (action.cancel_on === 'progress') cancel.abort();
    };
    try {
        outcome.result = action.await
            ? await record.next(action.await)
            : await client.perform(action, { ...PATIENCE, onprogress, signal: cancel.signal });
    } catch (error) {
        if (cancel.signal.aborted) outcome.cancelled = true;
        else outcome.error = describe(error);
    }
    if (action.call === undefined) delete outcome.progress;
    return outcome;
}

function describe(error) {
    const { name, code, message, data } = error;
    // One of the SDKs puts the code in front of what the server said.
    return { name, code, message: message.replace(/^MCP error -?\d+: /, ''), data };
}
