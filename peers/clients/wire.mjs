// What the drivers of the two TypeScript SDKs see of the wire: processes and
// their lines, or HTTP requests and their answers, before an SDK has touched
// what comes and after it has let go of what goes.

import childProcess from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

/**
 * Notes the end of every process that is started from now on, and each line
 * that goes in and comes out.
 */
export function watchProcesses(document) {
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

/** When a process is over. */
export function ended(child) {
    const over = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    return over || new Promise((resolve) => child.once('exit', resolve));
}

/** A `fetch` that notes each request, its answer, and the frames in both. */
export function watchedFetch(document) {
    return async (url, how = {}) => {
        const verb = how.method ?? 'GET';
        const exchange = document.exchanges.push({ verb, status: null, type: null }) - 1;
        const note = (direction, text) => document.frames.push({ exchange, [direction]: parse(text) });
        if (how.body) note('sent', String(how.body));
        const answer = await fetch(url, how);
        const type = answer.headers.get('content-type');
        Object.assign(document.exchanges[exchange], { status: answer.status, type });
        if (answer.body === null) return answer;
        const { status, statusText, headers } = answer;
        const body = answer.body.pipeThrough(tap(type, (text) => note('received', text)));
        return new Response(body, { status, statusText, headers });
    };
}

/** Lets a body pass, and tells of each frame in it. */
function tap(type, each) {
    const stream = type?.startsWith('text/event-stream');
    const decoder = new StringDecoder();
    let whole = '';
    const event = lines((line) => {
        // A frame is one line of data: JSON has no need of more. An event
        // without data is only there to be named.
        const data = line.trimEnd().match(/^data: ?(.+)$/);
        if (data) each(data[1]);
    });
    return new TransformStream({
        transform(chunk, out) {
            if (stream) event(Buffer.from(chunk));
            else whole += decoder.write(Buffer.from(chunk));
            out.enqueue(chunk);
        },
        flush() {
            if (!stream && whole !== '') each(whole);
        },
    });
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
