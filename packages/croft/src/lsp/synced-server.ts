import { toUri } from '../core/code/ports/file-uris.ts';
import type { LanguageServer, ServerUse } from '../core/code/ports/language-servers.ts';
import { DiagnosticReport } from '../core/code/ports/protocol-schemas.ts';
import { resultWithin } from '../core/commands/run-command.ts';
import type { Files } from '../core/files/files.ts';
import { unlessAborted } from '../lib/concurrency/unless-aborted.ts';
import { createKnownDiagnostics } from './known-diagnostics.ts';
import { createChangeNotifier } from './notify-of-changes.ts';
import type { NumberedChanges } from './numbered-changes.ts';
import { createOpenDocuments } from './open-documents.ts';
import { createProjectRoots } from './project-roots.ts';
import type { LanguageServerLaunch, ServerProcess } from './server-process.ts';
import { createRequester } from './server-requests.ts';

interface SyncedServerOptions extends Pick<LanguageServerLaunch, 'definition'> {
  readonly process: ServerProcess;
  readonly files: Pick<Files, 'read' | 'modifiedTimes'>;
  readonly changes: NumberedChanges;
  /** The number of the last change before the process started. */
  readonly startedAt: number;
}

const readyMs = 30_000;
const diagnosticsMs = 3000;
/** How long a server may take to list its files again after some came or went. */
const rescanMs = 2000;

export type SyncedServer = ReturnType<typeof createSyncedServer>;

/** A server process that gets every change on the disk before each request. */
export function createSyncedServer(options: SyncedServerOptions) {
  const { definition, process, files, changes } = options;
  const { rpc, root, readiness, published, capabilities } = process;
  const { notify } = rpc;
  const roots = createProjectRoots({ definition, root, files, notify, onAdd: readiness.expectAgain });
  const documents = createOpenDocuments({ definition, root, files, notify, beforeOpen: roots.add });
  const { sync, tell, told: reported } = createChangeNotifier({ ...options, documents });
  const known = createKnownDiagnostics(changes);
  const request = createRequester(options, process);

  async function diagnostics(path: string, signal: AbortSignal) {
    const version = reported();
    const items = known.find(path) ?? (await askDiagnostics(path, signal));
    if (items) known.add(path, { version, items });
    return items;
  }

  async function askDiagnostics(path: string, signal: AbortSignal) {
    const textDocument = { uri: toUri(root, path) };
    if (capabilities.diagnosticProvider) {
      await documents.open(path);
      const report = await request('textDocument/diagnostic', { textDocument }, signal);
      return DiagnosticReport.parse(report).items ?? [];
    }
    // The server publishes diagnostics after a document was opened, so it is opened again.
    documents.close(path);
    const since = performance.now();
    await documents.open(path);
    return published.wait(path, documents.versionOf(path) ?? 0, { since, timeoutMs: diagnosticsMs });
  }

  return {
    /** The server for one caller, whose requests end with its signal. */
    forCaller({ signal, onActivity }: ServerUse): LanguageServer {
      return {
        ...{ definition, root, capabilities, open: documents.open, changedSince: changes.changedSince },
        async sync() {
          const version = await sync();
          await unlessAborted(readiness.rescanned(rescanMs), signal);
          return version;
        },
        async whenReady(path) {
          await sync();
          await documents.open(path);
          readiness.begin();
          onActivity?.(() => `${definition.name} reads the project ${readiness.activity()}`.trim());
          const isReady = readiness.ready().then(() => readiness.trouble() === '');
          return (await unlessAborted(resultWithin(isReady, readyMs), signal)) ?? false;
        },
        whyIncomplete: () => {
          const trouble = readiness.trouble();
          return trouble === ''
            ? 'the language server still reads the project: ask again'
            : `the language server could not read the whole project: ${trouble}`;
        },
        async reopen(path) {
          documents.close(path);
          await tell(new Set([path]));
        },
        request: (method, params) => request(method, params, signal),
        diagnostics: (path) => diagnostics(path, signal),
      };
    },
  };
}
