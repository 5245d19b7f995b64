// What the drivers of the two TypeScript SDKs share: everything that no SDK
// has a say in. README.md says what goes in and what comes out.

import childProcess from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';

// When a driver gives up. Whoever started it waits longer than this.
const DEADLINE_MS = 60_000;

/** Loads a module of those that `cargo xtask peers` has installed. */
export const installed = createRequire(new URL('../../target/peers/node/', import.meta.url));

/** How long one request may take: never the reason for a failure by itself. */
export const PATIENCE = { timeout: DEADLINE_MS };

/**
 * Runs the scenario on standard input with the client that `open` makes, and
 * writes what happened to standard output.
 */
export async function drive(open) {
    const scenario = JSON.parse(await text(process.stdin));
    const [command, ...args] = process.argv.slice(2);
    const record = new Record(scenario);
    const processes = watchProcesses(record.document);
    const deadline = setTimeout(async () => {
        record.document.faults.push('the deadline passed');
        for (const child of processes) child.kill('SIGKILL');
        await Promise.all(processes.map(ended));
        finish(record);
    }, DEADLINE_MS);
    const client = await open({ command, args, scenario, record });
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
    await client.close();
    await Promise.all(processes.map(ended));
    clearTimeout(deadline);
    finish(record);
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
        this.document = { done: [], asked: [], notifications: [], complaints: [], faults: [], frames: [], processes: [] };
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

/**
 * Notes the end of every process that is started from now on, and each line
 * that goes in and comes out, before an SDK has touched it.
 */
function watchProcesses(document) {
    const processes = [];
    const spawn = childProcess.spawn;
    // Both SDKs start processes by way of a package that looks this up here.
    childProcess.spawn = (...how) => {
        const child = spawn(...how);
        const index = processes.push(child) - 1;
        document.processes.push({ code: null, signal: null });
        child.on('exit', (code, signal) => (document.processes[index] = { code, signal }));
        const note = (direction) => lines((line) => document.frames.push({ process: index, [direction]: parse(line) }));
        child.stdout.on('data', note('received'));
        const [sent, write] = [note('sent'), child.stdin.write.bind(child.stdin)];
        child.stdin.write = (chunk, ...rest) => {
            sent(Buffer.from(chunk));
            return write(chunk, ...rest);
        };
        return child;
    };
    return processes;
}

function ended(child) {
    const over = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    return over || new Promise((resolve) => child.once('exit', resolve));
}

function lines(each) {
    const decoder = new StringDecoder();
    let rest = '';
    return (chunk) => {
        const parts = (rest + decoder.write(chunk)).split('\n');
        rest = parts.pop();
        parts.forEach(each);
    };
}

function parse(line) {
    try {
        return JSON.parse(line);
    } catch {
        return { unreadable: line };
    }
}
