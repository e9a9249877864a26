import type { AnyCommand } from '../command.ts';

export interface ListedCommand {
  readonly summary: string;
  load(): Promise<AnyCommand>;
}

type Listing = Readonly<Record<string, ListedCommand>>;

/**
 * The commands in the order and under the titles of `croft help`. Each is loaded when it is used: servers are large, and
 * `croft help` needs only the summaries.
 */
export const commandGroups: Readonly<Record<string, Listing>> = {
  start: {
    init: {
      summary: 'add croft to the MCP clients of this machine: shows each change, asks, and keeps the old file',
      load: async () => (await import('./init.ts')).init,
    },
    serve: {
      summary: 'serve many agents over HTTP: MCP at /mcp',
      load: async () => (await import('./serve.ts')).serve,
    },
    mcp: {
      summary: 'serve one agent over standard input and output',
      load: async () => (await import('./mcp.ts')).mcp,
    },
    runner: {
      summary: 'offer the sandboxes of this machine to a server',
      load: async () => (await import('./runner.ts')).runner,
    },
    doctor: {
      summary:
        'say what this host can enforce, and what to do about what it cannot; exit code 1 if agents cannot work here',
      load: async () => (await import('./doctor.ts')).doctor,
    },
    open: {
      summary: 'print a link that opens the page of the server signed in, once, within a minute',
      load: async () => (await import('./open.ts')).open,
    },
    status: {
      summary: 'which server commands talk to, who you are there, and what waits',
      load: async () => (await import('./status.ts')).status,
    },
    completion: {
      summary: 'print a script for your shell that completes commands, flags and names',
      load: async () => (await import('./completion.ts')).completion,
    },
    du: {
      summary: 'print what croft keeps in its data directory, the largest first, and why',
      load: async () => (await import('./du.ts')).du,
    },
    server: {
      summary:
        'keys rotate: make a new key and seal every record with it while servers run; directories: which server has which files',
      load: async () => (await import('./server.ts')).server,
    },
  },
  who: {
    login: {
      summary: 'sign in to a server: keep its key in a file of yours, and use it from now on',
      load: async () => (await import('./login.ts')).login,
    },
    context: {
      summary: 'the servers that you use, and which one commands talk to',
      load: async () => (await import('./context.ts')).context,
    },
    accounts: {
      summary: 'accounts of the server that runs here, for its admin: each has its own agents, workspaces and keys',
      load: async () => (await import('../records/admin-nouns.ts')).accounts,
    },
    keys: {
      summary: 'keys of an account: what each may do, and until when',
      load: async () => (await import('../records/key-nouns.ts')).keys,
    },
  },
  things: {
    workspaces: {
      summary: 'directories that agents work in',
      load: async () => (await import('../records/account-nouns.ts')).workspaces,
    },
    sandboxes: {
      summary: 'what commands of agents run in: limits, network, permission mode',
      load: async () => (await import('../records/account-nouns.ts')).sandboxes,
    },
    agents: {
      summary: 'who works where: workspaces, sandbox and tools of an agent',
      load: async () => (await import('../records/account-nouns.ts')).agents,
    },
    runners: {
      summary: 'let machines connect to a server, see them, and shut them out',
      load: async () => (await import('../records/account-nouns.ts')).runners,
    },
    secrets: {
      summary: 'values for commands in sandboxes; a value is written and never shown again',
      load: async () => (await import('../records/key-nouns.ts')).secrets,
    },
    sessions: {
      summary: 'conversations of an agent, and child sessions with less access',
      load: async () => (await import('../records/key-nouns.ts')).sessions,
    },
  },
  people: {
    approvals: {
      summary: 'see and decide what agents wait for',
      load: async () => (await import('./approvals.ts')).approvals,
    },
    logs: {
      summary: 'what agents did and do: the last calls, and with -f what happens from now on',
      load: async () => (await import('./logs.ts')).logs,
    },
    audit: {
      summary:
        'what was done in your account, row by row; for the operator, the whole trail: print it, check that nothing in it ' +
        'was changed or taken out, print its signed head, or accept it as it is',
      load: async () => (await import('./audit.ts')).audit,
    },
  },
  work: {
    exec: {
      summary: 'run a command in a workspace: its output as it comes, and its exit code',
      load: async () => (await import('./exec.ts')).exec,
    },
    sh: {
      summary: 'a terminal in a sandbox over a workspace, here or on a runner',
      load: async () => (await import('./sh.ts')).sh,
    },
    files: {
      summary: 'see, get and put files of a workspace, and keep a directory of this machine in step with it',
      load: async () => (await import('./files.ts')).files,
    },
    diff: {
      summary: 'what changed in a workspace: by its last call, by one call, or since a snapshot',
      load: async () => (await import('./diff.ts')).diff,
    },
    undo: {
      summary: 'take back what the last calls changed in a workspace: all of it or nothing',
      load: async () => (await import('./undo.ts')).undo,
    },
    snapshots: {
      summary: 'states of a workspace with a name: make, compare and restore them',
      load: async () => (await import('./snapshots.ts')).snapshots,
    },
    forks: {
      summary: 'copies of a workspace that work goes on in, and that can be merged back',
      load: async () => (await import('./forks.ts')).forks,
    },
    tool: {
      summary:
        'make one tool call: its result on standard output, or its error on standard error and exit code 1; without a name, ' +
        'list the tools',
      load: async () => (await import('./tool.ts')).tool,
    },
  },
};

export const commands: Listing = Object.assign({}, ...Object.values(commandGroups));
