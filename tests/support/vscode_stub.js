// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the extension of VS Code without VS Code: a stub of the module 'vscode', and sessions that speak the Debug Adapter Protocol
// with what the extension starts for them. node vscode_stub.js EXTENSION.js CONFIGURATION.json: writes what a person would see as JSON.
"use strict";

const { spawn } = require("child_process");
const fs = require("fs");
const Module = require("module");

class EventEmitter {
  constructor() {
    this.listeners = [];
    this.event = (listener) => this.listeners.push(listener);
  }
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
}

const registered = { commands: {}, trees: {}, configurations: {}, factories: {}, trackers: {} };
const shown = { messages: [], documents: [] };
const answers = { input: undefined, dialog: undefined };
const activeChanged = new EventEmitter();
const disposable = { dispose() {} };

const vscode = {
  EventEmitter,
  TreeItem: class {
    constructor(label, collapsibleState) {
      Object.assign(this, { label, collapsibleState });
    }
  },
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  ThemeIcon: class {
    constructor(id) {
      this.id = id;
    }
  },
  Range: class {
    constructor(...numbers) {
      this.numbers = numbers;
    }
  },
  Uri: { file: (path) => ({ fsPath: path }) },
  DebugAdapterExecutable: class {
    constructor(command, args) {
      Object.assign(this, { command, args });
    }
  },
  debug: {
    activeDebugSession: undefined,
    activeStackItem: undefined,
    onDidChangeActiveDebugSession: activeChanged.event,
    registerDebugConfigurationProvider: (type, provider) => ((registered.configurations[type] = provider), disposable),
    registerDebugAdapterDescriptorFactory: (type, factory) => ((registered.factories[type] = factory), disposable),
    registerDebugAdapterTrackerFactory: (type, factory) => ((registered.trackers[type] = factory), disposable),
    startDebugging: async (_folder, configuration) => debug(configuration),
  },
  window: {
    registerTreeDataProvider: (id, tree) => ((registered.trees[id] = tree), disposable),
    showWarningMessage: (text) => shown.messages.push(text),
    showErrorMessage: (text) => shown.messages.push(text),
    showInformationMessage: (text) => shown.messages.push(text),
    showInputBox: async (options) => {
      const problem = options.validateInput?.(answers.input);
      if (problem) {
        shown.messages.push(problem);
        return undefined;
      }
      return answers.input;
    },
    showOpenDialog: async () => (answers.dialog === undefined ? undefined : [{ fsPath: answers.dialog }]),
    showTextDocument: async (document, options) => shown.documents.push([document.path, options.selection.numbers[0] + 1]),
  },
  workspace: {
    getConfiguration: () => ({ get: () => process.env.PHOTOFINISH }),
    openTextDocument: async (uri) => ({ path: uri.fsPath }),
  },
  commands: { registerCommand: (name, run) => ((registered.commands[name] = run), disposable) },
};

const load = Module._load;
Module._load = (request, ...rest) => (request === "vscode" ? vscode : load(request, ...rest));

/** What VS Code does between 'initialize' and the first stop. */
class Session {
  constructor(configuration) {
    this.type = configuration.type;
    this.configuration = configuration;
    this.pending = new Map();
    this.events = [];
    this.seq = 0;
    this.bytes = Buffer.alloc(0);
    this.changed = new EventEmitter();
    this.tracker = registered.trackers[this.type].createDebugAdapterTracker(this);
    const adapter = registered.factories[this.type].createDebugAdapterDescriptor(this);
    this.process = spawn(adapter.command, adapter.args, { stdio: ["pipe", "pipe", "ignore"] });
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.process.stdout.on("data", (data) => this.feed(data));
  }

  feed(data) {
    this.bytes = Buffer.concat([this.bytes, data]);
    for (;;) {
      const head = this.bytes.indexOf("\r\n\r\n");
      const length = head < 0 ? 0 : Number(/Content-Length: (\d+)/.exec(this.bytes.subarray(0, head))[1]);
      if (head < 0 || this.bytes.length < head + 4 + length) {
        return;
      }
      const message = JSON.parse(this.bytes.subarray(head + 4, head + 4 + length));
      this.bytes = this.bytes.subarray(head + 4 + length);
      this.take(message);
    }
  }

  take(message) {
    this.tracker.onDidSendMessage?.(message);
    if (message.type === "event") {
      this.events.push(message);
      this.changed.fire(message);
    } else {
      const { resolve, reject } = this.pending.get(message.request_seq);
      message.success ? resolve(message.body) : reject(new Error(message.body?.error?.variables?.text ?? message.message));
    }
  }

  customRequest(command, args = {}) {
    this.seq += 1;
    const text = JSON.stringify({ seq: this.seq, type: "request", command, arguments: args });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return new Promise((resolve, reject) => this.pending.set(this.seq, { resolve, reject }));
  }

  event(name, since = 0) {
    const found = this.events.slice(since).find((each) => each.event === name);
    return found ? Promise.resolve(found) : new Promise((resolve) => this.changed.event((each) => each.event === name && resolve(each)));
  }

  async start() {
    await this.customRequest("initialize", { adapterID: this.type });
    const { name, type, request, ...args } = this.configuration;
    await this.customRequest(request, args);
    await this.event("initialized");
    await this.customRequest("configurationDone");
    return this.event("stopped");
  }

  async end() {
    await this.customRequest("disconnect").catch(() => {});
    this.process.stdin.end();
    return this.ended;
  }
}

async function debug(configuration) {
  const provider = registered.configurations[configuration.type];
  const resolved = provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, configuration);
  if (resolved === undefined) {
    return undefined;
  }
  const session = new Session(resolved);
  vscode.debug.activeDebugSession = session;
  activeChanged.fire(session);
  session.firstStop = await session.start();
  return session;
}

/** Rows of a tree as [label, description, what is below], to this depth. */
async function rows(tree, depth, below = undefined) {
  const result = [];
  for (const row of await tree.getChildren(below)) {
    const item = tree.getTreeItem(row);
    result.push([item.label, item.description ?? "", depth > 1 && item.collapsibleState !== 0 ? await rows(tree, depth - 1, row) : []]);
  }
  return result;
}

async function main() {
  const [extension, configuration] = process.argv.slice(2);
  const context = { subscriptions: [] };
  require(extension).activate(context);
  const told = { commands: Object.keys(registered.commands), trees: Object.keys(registered.trees), subscriptions: context.subscriptions.length };
  await registered.commands["photofinish.replayToEvent"](); // no session
  told.nothing = await debug({ type: "photofinish", request: "launch", name: "empty" });
  const asked = JSON.parse(fs.readFileSync(configuration));
  answers.dialog = asked.trace;
  told.fromF5 = await registered.configurations.photofinish.resolveDebugConfiguration(undefined, {});
  const session = await debug(asked);
  told.firstStop = session.firstStop.body;
  const races = registered.trees["photofinish.races"];
  const events = registered.trees["photofinish.events"];
  told.races = await rows(races, 3);
  told.events = await rows(events, 2);
  const [first] = await races.getChildren();
  const [race] = await races.getChildren(first);
  told.race = race.event;
  await registered.commands["photofinish.openSource"](race);
  const since = session.events.length;
  await registered.commands["photofinish.replayTo"](race);
  told.atRace = (await session.event("stopped", since)).body;
  answers.input = "nonsense";
  await registered.commands["photofinish.replayToEvent"]();
  answers.input = `${race.event.rank}:999999`;
  await registered.commands["photofinish.replayToEvent"]();
  answers.input = "nosuch";
  await registered.commands["photofinish.whichMessage"]();
  told.status = await session.end();
  vscode.debug.activeDebugSession = undefined;
  activeChanged.fire(undefined);
  told.empty = await rows(races, 1);
  process.stdout.write(JSON.stringify({ ...told, ...shown }));
  process.exit(0);
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
