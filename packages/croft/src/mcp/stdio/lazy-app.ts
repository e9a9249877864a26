import type { App } from '../../app/app.ts';
import type { Session } from '../../core/sessions/session.ts';
import type { McpApp } from '../mcp-app.ts';

/** The id of the only session, used before the session itself exists. */
export const stdioSession = 'stdio';

interface Opened {
  readonly app: App;
  readonly session: Session;
}

/**
 * An app with one session, opened on first use or by `open`, so that a client's handshake does not wait for it. Every
 * other request waits, and fails with the reason if the app cannot be opened.
 */
export function createLazyApp(openApp: () => Promise<App>) {
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  const open = () => (opening ??= start());

  async function start(): Promise<Opened> {
    const app = await openApp();
    opened = { app, session: app.newSession(stdioSession) };
    return opened;
  }

  const toolbox: McpApp<string>['toolbox'] = {
    async list() {
      const { app, session } = await open();
      return app.toolbox.list(session);
    },
    async call(name, input, caller) {
      const { app, session } = opened ?? (await open());
      return app.toolbox.call(name, input, { ...caller, session });
    },
    // Until the app is open, every tool may need an approval.
    mayAsk: (name) => opened?.app.toolbox.mayAsk(name) ?? true,
  };

  return {
    toolbox,
    open,
    async stopCalls(deadlineMs: number): Promise<void> {
      await opened?.app.toolbox.stop(deadlineMs);
    },
    /** Closes the session with every program it started, then the app. */
    async close(): Promise<void> {
      await opened?.session.close();
      await opened?.app[Symbol.asyncDispose]();
    },
  };
}
