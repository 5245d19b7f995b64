// Calls servers through their generated modules and the official SDK, and prints what
// each of them returned. The first argument says which version of the SDK, the second
// how servers are started: by name, a command with its arguments and environment.

import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type McpClient, textOf } from "./bowline-runtime.js";
import { Everything } from "./everything.js";
import { Filesystem } from "./filesystem.js";
import { Grafana } from "./grafana.js";
import { Hubspot } from "./hubspot.js";
import { Memory } from "./memory.js";
import { SequentialThinking } from "./sequential-thinking.js";
import { Time } from "./time.js";

// The types of Node.js are not installed.
declare const process: { argv: string[] };

interface Start {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}

/** One call to each server; `calls/typescript.rs` makes the same. */
const calls: Record<string, (client: McpClient) => Promise<unknown>> = {
  everything: async (client) => {
    const everything = new Everything(client);
    const sum = await everything.getSum({ a: 17, b: 25 });
    const prompt = await everything.prompts.argsPrompt({ city: "Porto" });
    const resource = await everything.resources.instructionsMd();
    return {
      sum: textOf(sum),
      prompt: prompt.messages,
      resource: resource.contents[0]?.text,
    };
  },
  filesystem: (client) => new Filesystem(client).listDirectory({ path: "." }),
  grafana: async (client) => {
    const args = { resourceType: "dashboard", dashboardUid: "abc" };
    return textOf(await new Grafana(client).generateDeeplink(args));
  },
  hubspot: async (client) => {
    const result = await new Hubspot(client).hubspotGetLink({
      portalId: "1",
      uiDomain: "app.hubspot.com",
      pageRequests: [
        { pagetype: "record", objectTypeId: "0-1", objectId: "7" },
      ],
    });
    return textOf(result);
  },
  memory: (client) => {
    const ada = {
      name: "Ada",
      entityType: "person",
      observations: ["She counts."],
    };
    return new Memory(client).createEntities({ entities: [ada] });
  },
  "sequential-thinking": (client) =>
    new SequentialThinking(client).sequentialthinking({
      thought: "First",
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    }),
  time: async (client) => {
    const converted = await new Time(client).convertTime({
      source_timezone: "UTC",
      time: "16:30",
      target_timezone: "Asia/Tokyo",
    });
    // The day is another one at midnight.
    return [converted.target.timezone, converted.time_difference];
  },
};

async function connect(version: string, start: Start) {
  const info = { name: "test", version: "1.0.0" };
  const options = { ...start, stderr: "ignore" as const };
  if (version === "1") {
    const client = new Client1(info);
    await client.connect(new Stdio1(options));
    return client;
  }
  const client = new Client2(info);
  await client.connect(new Stdio2(options));
  return client;
}

const [version = "", starts = "{}"] = process.argv.slice(2);
const returned: Record<string, unknown> = {};
for (const [name, start] of Object.entries<Start>(JSON.parse(starts))) {
  const client = await connect(version, start);
  returned[name] = await calls[name]?.(client);
  await client.close();
}
console.log(JSON.stringify(returned));
