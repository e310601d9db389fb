// An adapter in plain Node, written from docs/reference/protocol.md alone: it coordinates a made-up agent's session.
//
//   node adapter.mjs HOME WORKFLOW ANSWER...
//
// starts a workflow in a session of the agent, whose model hands in one ANSWER after another (JSON where it reads as
// such, else text), and prints what the session hears until the workflow's end was told. The exit code is 0 where the
// workflow completed, 1 where it did not, 2 where the host refused. `adapter.py` does the same; docs/guides/adapters.md
// says why.

import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client, PASSING, Refused } from "./client.mjs";

/** A made-up agent. `branch` is its active branch; what came from here carries its message's ID. */
export class Agent {
  session = `example-${randomUUID()}`;
  branch = [];
  busy = false;

  constructor(model) {
    this.model = model;
  }

  entryOf(message) {
    const at = message === null ? -1 : this.branch.findIndex((each) => each.message === message);
    return at < 0 ? null : `entry-${at}`;
  }

  append(text, message = null) {
    this.branch.push({ text, message });
    return `entry-${this.branch.length - 1}`;
  }
}

/** The coordinator of one session: it holds nothing that could not be lost. */
export class Adapter {
  epoch = null;
  held = null;
  over = false;

  constructor(client, agent) {
    this.client = client;
    this.agent = agent;
  }

  get speaker() {
    return { session: this.agent.session, epoch: this.epoch };
  }

  /** Be the coordinator until the workflow's end was told; in a new epoch after each lost connection. */
  async run() {
    while (!this.over) {
      await this.follow();
      if (!this.over) await this.attach();
    }
  }

  async attach() {
    const rests = !this.agent.busy;
    const payload = { session: this.agent.session, agent: "example", idle: rests, nothing_pending: rests };
    this.epoch = (await this.client.ask("session.attach", { payload })).epoch;
    this.held = null;
  }

  /** Take one view after another; each that says `deliver` comes once, so none is left out. */
  async follow() {
    const came = [];
    let wake = () => {};
    const heard = (event) => {
      came.push(event);
      wake();
    };
    await this.client.ask("view.subscribe", { payload: this.speaker, heard });
    while (!this.over) {
      while (came.length === 0) await new Promise((done) => (wake = done));
      const event = came.shift();
      if (event === null) return; // the connection is lost
      if (event.kind === "end" && PASSING.includes(event.payload.code)) return;
      if (event.kind === "end") throw new Refused(event.payload);
      await this.look(event.payload);
    }
  }

  async look({ current, run_id: run }) {
    if (current === null) {
      // A run that was started from outside waits for the word that the agent rests.
      if (run !== null && !this.agent.busy) await this.report(null);
    } else if (current.deliver) {
      this.held = current;
      await this.send();
    } else {
      if (current.state === "cancelled") this.held = null;
      await this.report(current.message);
    }
  }

  /** What the branch holds of a message, and whether the agent rests. */
  async report(message) {
    const rests = !this.agent.busy;
    const evidence = { message, entry: this.agent.entryOf(message), idle: rests, nothing_pending: rests };
    await this.client.ask("session.report", { payload: { ...this.speaker, ...evidence } });
  }

  /** Send what is held, once the agent rests: nothing may come between that look and the sending. */
  async send() {
    const message = this.held;
    if (message === null) return;
    const text = await this.shown(message);
    if (this.held !== message || this.agent.busy) return; // reading took a moment; `settled` sends what is still held
    this.held = null;
    this.agent.append(text, message.message);
    this.agent.busy = message.starts_turn;
    await this.report(message.message);
    if (message.starts_turn) await this.turn(message, text);
    this.over = message.kind === "terminal";
  }

  /** What is put before the model: the text, and of a step how to answer it, which its text does not say. */
  async shown(message) {
    const text = message.text === null ? "" : await this.client.read(message.text);
    if (message.kind !== "step") return text;
    const { reason, kind, requestId, contract } = await this.client.read(message.content);
    const parts = [text];
    if (reason === "reminder") parts.push("Your last turn ended without an answer to this.");
    if (kind === "agent") {
      parts.push(`Call the tool \`submit\` with the request ID ${requestId} and your answer as the value.`);
      parts.push(`The value has to meet this JSON Schema: ${JSON.stringify(contract ?? {})}`);
    }
    return parts.join("\n\n");
  }

  /** A turn for a message: it is the run's only where the host says so. */
  async turn(message, text) {
    const facts = { ...this.speaker, turn: randomUUID(), message: message.message };
    const { ownership } = await this.client.ask("turn.report", { run: message.run_id, payload: facts });
    const answer = await this.agent.model(message, text);
    const ended = { stop_reason: "completed", entry: this.agent.append(answer), text: answer };
    this.agent.busy = false;
    if (ownership === "active") {
      await this.client.ask("turn.report", { run: message.run_id, payload: { ...facts, ended } });
    }
    await this.settled();
  }

  /** The agent rests: call it after each turn, a person's as well. */
  async settled(person_spoke = false) {
    await this.client.ask("session.settled", { payload: { ...this.speaker, person_spoke } });
    await this.send();
  }
}

/** An answer as it was typed. */
function parsed(answer) {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}

async function main([home, workflow, ...answers]) {
  /** The model reads what it is asked, and calls the tool that hands an answer in. */
  async function model(message, text) {
    console.log(`${message.kind}: ${text}`);
    if (message.kind !== "step") return "Noted.";
    if (answers.length === 0) return "I have no answer.";
    const { requestId } = await client.read(message.content);
    const payload = { ...adapter.speaker, request_id: requestId, value: parsed(answers.shift()) };
    try {
      await client.ask("request.submit", { key: randomUUID(), payload });
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      return refused.message; // why, for the model to correct itself by
    }
    return "Done.";
  }

  const agent = new Agent(model);
  const client = new Client(home, `example:${agent.session}`);
  const adapter = new Adapter(client, agent);
  try {
    agent.busy = true; // in a turn of the person, the model calls the tool that starts a workflow
    await adapter.attach();
    const payload = { workflow, input: {}, cwd: process.cwd(), session: agent.session };
    const { run_id: run } = await client.ask("run.start", { key: randomUUID(), payload });
    agent.append(`Workflow queued (run ${run}).`);
    agent.busy = false;
    await adapter.settled(true);
    await adapter.run();
    for (const { text } of agent.branch) console.log(`> ${text}`);
    const { status } = await client.ask("run.status", { run });
    return status === "completed" ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Refused ? `${error.code}: ${error.message}` : error.message);
    return 2;
  } finally {
    client.close();
  }
}

const started = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (started) process.exitCode = await main(process.argv.slice(2));
