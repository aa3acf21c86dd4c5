// SPDX-License-Identifier: GPL-3.0-or-later
// Photofinish in VS Code: starts 'photofinish dap' as the debug adapter of type "photofinish", and shows races and events of the
// session's trace, by the adapter's requests photofinish/races, photofinish/events and photofinish/replayTo (docs/editors.md).
"use strict";

const vscode = require("vscode");

const TYPE = "photofinish";
const MOST_SHOWN = 200; // rows below one row

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

function placeOf(event) {
  return typeof event.file === "string" ? `${event.file.split("/").pop()}:${event.line}` : "";
}

/** "rank 0 event 5: MPI_Recv at a.c:12" */
function eventLabel(event) {
  const place = placeOf(event);
  return `rank ${event.rank} event ${event.serial}${event.call ? `: ${event.call}` : ""}${place ? ` at ${place}` : ""}`;
}

/** A row of a tree: what it shows, and what is below it. */
class Row {
  constructor(label, fields = {}) {
    this.label = label;
    this.description = fields.description;
    this.icon = fields.icon;
    this.event = fields.event; // rank, serial, perhaps file and line
    this.below = fields.below; // () => rows, or a promise of them
    this.open = fields.open === true;
  }

  item() {
    const states = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(
      this.label,
      this.below === undefined ? states.None : this.open ? states.Expanded : states.Collapsed,
    );
    item.description = this.description;
    if (this.icon !== undefined) {
      item.iconPath = new vscode.ThemeIcon(this.icon);
    }
    if (this.event !== undefined) {
      item.contextValue = "event";
      item.tooltip = eventLabel(this.event);
      if (typeof this.event.file === "string") {
        item.command = { command: "photofinish.openSource", title: "Open Source", arguments: [this] };
      }
    }
    return item;
  }
}

function messageRow(how, message) {
  return message === null || message === undefined
    ? new Row(`${how} a message that is not in the record`)
    : new Row(`${how} ${eventLabel(message)}`, { description: `tag ${message.tag}`, event: message });
}

function raceRow(race, number) {
  return new Row(`race ${number}: ${eventLabel(race.receive)}`, {
    event: race.receive,
    icon: race.weight === "first" ? "target" : "git-compare",
    description: count(race.alternatives.length, "alternative", "alternatives"),
    below: () => [messageRow("took", race.taken), ...race.alternatives.slice(0, MOST_SHOWN).map((each) => messageRow("or could", each))],
  });
}

const WEIGHTS = {
  first: "look here first",
  "before failure": "before the failure",
  other: "",
};

/** Rows for the document of 'photofinish races --json': classes in its order, which is by weight. */
function raceRows(document) {
  if (document.races.length === 0) {
    return [new Row("No receive could have taken another message")];
  }
  const ofClass = new Map();
  document.races.forEach((race, i) => {
    if (!ofClass.has(race.class)) {
      ofClass.set(race.class, []);
    }
    ofClass.get(race.class).push([race, i + 1]);
  });
  return document.classes.map((one, i) => {
    const [race] = document.races.slice(one.weightiest - 1, one.weightiest);
    const place = placeOf(race.receive);
    return new Row(`${race.receive.call ?? "receive"}${place ? ` at ${place}` : ""}`, {
      description: [count(one.races, "race", "races"), WEIGHTS[one.weight] ?? one.weight].filter(Boolean).join(", "),
      icon: one.weight === "first" ? "target" : one.weight === "before failure" ? "warning" : "circle-outline",
      open: i === 0,
      below: () => {
        const races = ofClass.get(one.class) ?? [];
        const first = races.filter(([, number]) => number === one.weightiest);
        const rest = races.filter(([, number]) => number !== one.weightiest);
        const rows = [...first, ...rest].slice(0, MOST_SHOWN).map(([each, number]) => raceRow(each, number));
        return races.length > rows.length ? [...rows, new Row(`and ${races.length - rows.length} more`)] : rows;
      },
    });
  });
}

function eventRow(event) {
  const took = (event.deliveries ?? []).map((each) => `rank ${each.source} tag ${each.tag}`);
  return new Row(`${event.serial}: ${event.call}${placeOf(event) ? ` at ${placeOf(event)}` : ""}`, {
    event,
    description: took.length === 0 ? undefined : `← ${took.join(", ")}`,
  });
}

/** Rows of a rank's events, a page at a time. */
async function eventPage(session, rank, first) {
  const page = await session.customRequest("photofinish/events", { rank, first, limit: MOST_SHOWN });
  const rows = page.events.map(eventRow);
  const next = first + page.events.length;
  if (next <= page.count) {
    rows.push(new Row(`${count(page.count - next + 1, "event", "events")} more`, { below: () => eventPage(session, rank, next) }));
  }
  return rows;
}

async function eventRows(session) {
  const answer = await session.customRequest("threads");
  return answer.threads.map((thread) => {
    const rank = thread.id - 1;
    return new Row(`rank ${rank}`, { icon: "server-process", below: () => eventPage(session, rank, 1) });
  });
}

/** A tree over the session that is debugged. `read`: (session) => a promise of its first rows. */
class Tree {
  constructor(read) {
    this.read = read;
    this.session = undefined;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  show(session) {
    this.session = session;
    this.changed.fire(undefined);
  }

  getTreeItem(row) {
    return row.item();
  }

  async getChildren(row) {
    if (this.session === undefined) {
      return [];
    }
    try {
      return await (row === undefined ? this.read(this.session) : row.below());
    } catch (error) {
      return [new Row(`${error.message ?? error}`, { icon: "error" })];
    }
  }
}

function activeSession() {
  const session = vscode.debug.activeDebugSession;
  if (session === undefined || session.type !== TYPE) {
    vscode.window.showWarningMessage("No session of Photofinish is being debugged.");
    return undefined;
  }
  return session;
}

async function replayTo(rank, serial) {
  const session = activeSession();
  if (session === undefined) {
    return;
  }
  try {
    await session.customRequest("photofinish/replayTo", { rank, serial });
  } catch (error) {
    vscode.window.showErrorMessage(`Photofinish: ${error.message ?? error}`);
  }
}

async function replayToEvent() {
  if (activeSession() === undefined) {
    return;
  }
  const place = await vscode.window.showInputBox({
    prompt: "RANK:SERIAL: the rank just before this event, the others at the cut that it needs",
    validateInput: (text) => (/^\s*\d+:\d+\s*$/.test(text) ? undefined : "Write RANK:SERIAL, as 0:17"),
  });
  if (place !== undefined) {
    const [rank, serial] = place.split(":").map(Number);
    await replayTo(rank, serial);
  }
}

async function openSource(row) {
  const line = Math.max(0, (row.event.line ?? 1) - 1);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(row.event.file));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(line, 0, line, 0), preview: true });
}

async function whichMessage() {
  const session = activeSession();
  const expression = session && (await vscode.window.showInputBox({ prompt: "A variable, or an expression with an address" }));
  if (!expression) {
    return;
  }
  const frameId = vscode.debug.activeStackItem?.frameId;
  try {
    const answer = await session.customRequest("evaluate", { expression: `which-message ${expression}`, context: "repl", frameId });
    vscode.window.showInformationMessage(answer.result);
  } catch (error) {
    vscode.window.showErrorMessage(`Photofinish: ${error.message ?? error}`);
  }
}

async function askTrace() {
  const chosen = await vscode.window.showOpenDialog({ canSelectMany: false, filters: { Recordings: ["pft"] }, openLabel: "Debug" });
  return chosen?.[0]?.fsPath;
}

async function askProcess() {
  return vscode.window.showInputBox({
    prompt: "Process of mpirun or of a rank",
    validateInput: (text) => (/^\s*\d+\s*$/.test(text) ? undefined : "Write the number of a process"),
  });
}

async function openTrace() {
  const trace = await askTrace();
  if (trace !== undefined) {
    await vscode.debug.startDebugging(undefined, {
      name: `Photofinish: ${trace.split("/").pop()}`,
      type: TYPE,
      request: "launch",
      trace,
      until: "failure",
    });
  }
}

/** F5 without a configuration asks for a trace. */
const configurations = {
  async resolveDebugConfiguration(_folder, configuration) {
    if (configuration.type || configuration.request || configuration.name) {
      return configuration;
    }
    const trace = await askTrace();
    return trace && { name: "Photofinish", type: TYPE, request: "launch", trace, until: "failure" };
  },
  resolveDebugConfigurationWithSubstitutedVariables(_folder, configuration) {
    const resolved = { ...configuration };
    if (typeof resolved.processId === "string") {
      resolved.processId = Number(resolved.processId);
    }
    if (resolved.request === "launch" && !resolved.trace && !resolved.program) {
      vscode.window.showErrorMessage("Photofinish: give 'trace' (a .pft file) or 'program' in the launch configuration.");
      return undefined;
    }
    return resolved;
  },
};

const adapters = {
  createDebugAdapterDescriptor() {
    const path = vscode.workspace.getConfiguration("photofinish").get("path") || "photofinish";
    return new vscode.DebugAdapterExecutable(path, ["dap"]);
  },
};

function activate(context) {
  const races = new Tree(async (session) => raceRows(await session.customRequest("photofinish/races")));
  const events = new Tree(eventRows);
  const show = (session) => {
    const ours = session !== undefined && session.type === TYPE ? session : undefined;
    races.show(ours);
    events.show(ours);
  };
  /** The trace is open once the adapter has said so. */
  const trackers = {
    createDebugAdapterTracker(session) {
      return {
        onDidSendMessage(message) {
          if (message.type === "event" && message.event === "initialized") {
            show(session);
          }
        },
      };
    },
  };
  const commands = {
    "photofinish.replayTo": (row) => replayTo(row.event.rank, row.event.serial),
    "photofinish.replayToEvent": replayToEvent,
    "photofinish.openSource": openSource,
    "photofinish.whichMessage": whichMessage,
    "photofinish.refresh": () => show(vscode.debug.activeDebugSession),
    "photofinish.openTrace": openTrace,
    "photofinish.askTrace": askTrace,
    "photofinish.askProcess": askProcess,
  };
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
    vscode.debug.registerDebugAdapterTrackerFactory(TYPE, trackers),
    vscode.debug.onDidChangeActiveDebugSession(show),
    vscode.window.registerTreeDataProvider("photofinish.races", races),
    vscode.window.registerTreeDataProvider("photofinish.events", events),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  );
}

function deactivate() {}

module.exports = { activate, deactivate };
