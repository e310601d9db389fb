// A client of a runwright host in plain Node, written from docs/reference/protocol.md alone.
//
//   node client.mjs HOME start WORKFLOW INPUT [KEY]   queue a run, print its ID, follow it, print its output;
//                                                     INPUT is JSON, or @FILE
//   node client.mjs HOME follow RUN                   follow a run that is there
//   node client.mjs HOME cancel RUN [REASON]          end it
//
// The exit code is 0 where it went as asked, 1 where the run ended otherwise, 2 where the host refused.
// `adapter.mjs` uses its `Client` for a session.

import { createHash, randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PROTOCOL = "runwright.client.v1";
const MAX_FRAME = 1024 * 1024;
const PART = 512 * 1024;
const PATIENCE = 30_000;
/** Why a subscription may end although it can be taken up again. */
export const PASSING = ["host_busy", "store_closed", "store_unavailable"];

export class Refused extends Error {
  constructor(error) {
    super(`${error.message} ${error.hint}`);
    this.code = error.code;
  }
}

class Lost extends Error {}

/** Where the host of a state directory listens. */
function socketOf(home) {
  const inside = join(resolve(home), "host.sock");
  const most = process.platform === "darwin" ? 103 : 107;
  const fits = (path) => Buffer.byteLength(path) <= most;
  if (fits(inside)) return inside;
  const log = JSON.parse(readFileSync(join(home, "store.id"), "utf8")).log_id;
  const folders = [process.env.XDG_RUNTIME_DIR, tmpdir(), "/tmp"].filter((each) => each?.startsWith("/"));
  return folders.map((folder) => join(folder, `runwright-${log}`, "host.sock")).find(fits);
}

/** One connection: it has said hello, or it is lost. */
class Line {
  #socket;
  #begun = [];
  #waiting = new Map();
  lost = false;

  static async open(path) {
    const line = new Line();
    await new Promise((done, failed) => {
      line.#socket = connect(path, done);
      line.#socket.on("error", () => failed(new Lost("no host answers")));
    });
    const hello = new Promise((done, failed) => line.#waiting.set("hello", { done, failed }));
    line.#socket.on("data", (data) => line.#take(data));
    line.#socket.on("close", () => line.#lose());
    line.#send({ type: "hello", protocol: PROTOCOL, version: "1.0" });
    const { protocol } = await hello;
    if (protocol !== PROTOCOL) throw new Error(`the host speaks ${protocol}`);
    return line;
  }

  /** Send a call; answer its reply, and hand the events that follow to `heard`. */
  call(message, heard = null) {
    const id = message.call_id;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed, heard });
      this.#send({ type: "call", ...message });
    });
  }

  close() {
    this.#socket.destroy();
  }

  /** A message larger than a frame travels in parts. */
  #send(message) {
    const whole = Buffer.from(JSON.stringify(message));
    if (whole.length < MAX_FRAME) {
      this.#socket.write(whole + "\n");
      return;
    }
    const head = { type: "part", upload: randomUUID(), length: whole.length };
    head.sha256 = createHash("sha256").update(whole).digest("hex");
    for (let index = 0; index * PART < whole.length; index++) {
      const data = whole.subarray(index * PART, (index + 1) * PART).toString("base64");
      this.#socket.write(JSON.stringify({ ...head, index, data }) + "\n");
    }
  }

  #take(data) {
    let end;
    while ((end = data.indexOf(10)) >= 0) {
      const frame = Buffer.concat([...this.#begun, data.subarray(0, end)]);
      this.#begun = [];
      data = data.subarray(end + 1);
      this.#message(JSON.parse(frame.toString("utf8")));
    }
    this.#begun.push(data);
  }

  #message(message) {
    if (message.type === "hello") this.#waiting.get("hello").done(message);
    else if (message.type === "event") this.#waiting.get(message.call_id)?.heard?.(message);
    else if (message.call_id === null) this.#lose(new Refused(message.error));
    else {
      const waiting = this.#waiting.get(message.call_id);
      if (!waiting?.heard) this.#waiting.delete(message.call_id);
      waiting?.done(message);
    }
  }

  #lose(why = new Lost("the host closed the connection")) {
    this.lost = true;
    for (const { failed, heard } of this.#waiting.values()) {
      failed(why);
      heard?.(null);
    }
    this.#waiting.clear();
  }
}

/** Calls that are tried again, under the same key, until they have a reply. */
export class Client {
  #home;
  #name;
  #line = null;
  #calls = 0;

  constructor(home, name = "node-example") {
    this.#home = home;
    this.#name = name;
  }

  async ask(operation, { run = null, payload = {}, key = null, heard = null } = {}) {
    const until = Date.now() + PATIENCE;
    for (let delay = 20; ; delay = Math.min(2 * delay, 500)) {
      const message = { client_id: this.#name, operation, key, run_id: run, payload };
      try {
        if (this.#line?.lost) this.close();
        this.#line ??= await Line.open(socketOf(this.#home));
        const reply = await this.#line.call({ call_id: `${++this.#calls}`, ...message }, heard);
        if (reply.error === null) return reply.answer;
        if (reply.outcome !== "unavailable" || Date.now() > until) throw new Refused(reply.error);
      } catch (error) {
        if (!(error instanceof Lost) || Date.now() > until) throw error;
        this.close();
      }
      await sleep(delay);
    }
  }

  close() {
    this.#line?.close();
    this.#line = null;
  }

  /** A run's views, one after another, until it has ended; they go on where they were after a lost connection. */
  async follow(run, seen) {
    for (let after = 0, view = null; ; ) {
      const ended = await new Promise((done, failed) => {
        const heard = (event) => {
          if (event === null) return done(false);
          if (event.kind === "end" && event.payload.code === "finished") return done(true);
          if (event.kind === "end" && PASSING.includes(event.payload.code)) return done(false);
          if (event.kind === "end") return failed(new Refused(event.payload));
          after = event.position;
          seen((view = event.payload));
        };
        this.ask("view.subscribe", { run, payload: { after }, heard }).catch(failed);
      });
      if (ended) return view.status;
    }
  }

  /** A value: inline where it is small, else joined from its parts and verified. */
  async read(value) {
    if (value.inline) return value.value;
    const parts = [];
    for (let part = 0; part * PART < value.bytes; part++) {
      const payload = { position: value.position, field: value.field, part };
      parts.push(Buffer.from((await this.ask("content.read", { payload })).data, "base64"));
    }
    const whole = Buffer.concat(parts);
    if (createHash("sha256").update(whole).digest("hex") !== value.sha256) throw new Error("a value is damaged");
    return value.media === "text/plain" ? whole.toString("utf8") : JSON.parse(whole.toString("utf8"));
  }
}

async function followed(client, run) {
  let last = "";
  const { status } = await client.follow(run, (view) => {
    const node = view.nodes.find((each) => each.current)?.node ?? "-";
    const line = `${view.status.status} ${node}`;
    if (line !== last) console.error((last = line));
  });
  if (status !== "completed") return 1;
  const { output } = await client.ask("run.output", { run });
  console.log(JSON.stringify(await client.read(output)));
  return 0;
}

async function main([home, command, ...rest]) {
  const client = new Client(home);
  try {
    if (command === "start") {
      const [workflow, input, key = randomUUID()] = rest;
      const text = input.startsWith("@") ? readFileSync(input.slice(1), "utf8") : input;
      const payload = { workflow, input: JSON.parse(text), cwd: process.cwd() };
      const { run_id: run } = await client.ask("run.start", { key, payload });
      console.log(run);
      return await followed(client, run);
    }
    if (command === "follow") return await followed(client, rest[0]);
    if (command === "cancel") {
      const [run, reason = ""] = rest;
      await client.ask("run.cancel", { run, key: randomUUID(), payload: { reason } });
      return 0;
    }
    console.error("usage: node client.mjs HOME start WORKFLOW INPUT [KEY] | follow RUN | cancel RUN [REASON]");
    return 2;
  } catch (error) {
    console.error(error instanceof Refused ? `${error.code}: ${error.message}` : `${error.message}`);
    return 2;
  } finally {
    client.close();
  }
}

const started = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (started) process.exitCode = await main(process.argv.slice(2));
