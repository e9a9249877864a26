import { AppError } from '@croft/protocol';
import { resultWithin } from '../core/commands/run-command.ts';
import type { Session } from '../core/sessions/session.ts';
import type { SessionToolRequest, SessionTools } from '../core/tools/session-tools.ts';
import type { Tool } from '../core/tools/tool.ts';
import type { Workspace } from '../core/workspace/workspace.ts';
import type { AnnouncedTool } from './announced-tools.ts';
import { createInnerToolCaller } from './call-inner-tool.ts';
import { innerToolPrefix, readInnerToolName, toInnerTool } from './inner-tool.ts';
import { createServerSelection, type ServerSelectionOptions } from './select-servers.ts';
import { createServerPool, type ServerPoolOptions, type WantedServer } from './server-pool.ts';

export interface InnerToolsOptions extends ServerPoolOptions, ServerSelectionOptions {}

/** Time limit for listing: a server that does not answer in time is left out of the list. */
const listMs = 10_000;
const defaultCallMs = 120_000;
/** The most workspaces in which one list of tools starts sandboxes. */
const maxListed = 16;

/** The tools of MCP servers. Each server runs in the sandbox of the session that calls it. */
export function createInnerTools(options: InnerToolsOptions): SessionTools {
  const pool = createServerPool(options);
  const selection = createServerSelection(options);
  const call = createInnerToolCaller({ pool, selection });
  return { isName: (name) => name.startsWith(innerToolPrefix), list, find };

  async function list(session: Session): Promise<readonly Tool[]> {
    const listed = selection.usable().slice(0, maxListed);
    const tools = (await Promise.all(listed.map((workspace) => listIn(workspace, session)))).flat();
    const names = tools.map(({ name }) => name);
    return tools.filter(({ name }, index) => names.indexOf(name) === index);
  }

  async function listIn(workspace: Workspace, session: Session): Promise<Tool[]> {
    const note = (server: string, words: string) => pool.tell({ workspace, session }, server, 'ignored', words);
    const wanted = await selection.toList(workspace, note);
    const tools = wanted.map(([name, server]) => listOf({ name, server, workspace, session }));
    return (await Promise.all(tools)).flat();
  }

  async function listOf(wanted: WantedServer): Promise<Tool[]> {
    const { name, session } = wanted;
    try {
      const announced = await resultWithin(announcedBy(wanted, session.signal), listMs);
      if (announced) return [...announced.values()].map((tool) => toTool(wanted, tool));
      pool.tell(wanted, name, 'late', `it did not answer within ${listMs / 1000} s, and is listed without its tools`);
    } catch (thrown) {
      const { code, message } = AppError.from(thrown);
      // The server pool has already reported a failure of the server itself.
      if (code !== 'E_MCP_SERVER') pool.tell(wanted, name, 'failed', message);
    }
    return [];
  }

  async function find({ name, workspace: hint, session, signal }: SessionToolRequest): Promise<Tool | undefined> {
    const parts = readInnerToolName(name);
    const workspace = selection.pickFor(hint);
    if (!parts || !workspace) return undefined;
    const findIn = async (candidate: Workspace) => {
      const server = await selection.find(candidate, parts.server);
      if (!server) return undefined;
      const wanted = { name: parts.server, server, workspace: candidate, session };
      const tool = (await announcedBy(wanted, signal)).get(parts.tool);
      return tool && toTool(wanted, tool);
    };
    const found = await findIn(workspace);
    // A tool with a `workspace` argument of its own cannot be told where to work, so that it always works in the first
    // workspace.
    const [home = workspace] = selection.usable();
    return found?.home === undefined || found.home === home.name ? found : findIn(home);
  }

  async function announcedBy(wanted: WantedServer, signal: AbortSignal): Promise<ReadonlyMap<string, AnnouncedTool>> {
    return pool.use(wanted, async (server) => (await server.tools(signal)).tools);
  }

  function toTool({ name, server, workspace }: WantedServer, announced: AnnouncedTool): Tool {
    const ownMs = server.timeoutSeconds === undefined ? defaultCallMs : server.timeoutSeconds * 1000;
    const timeoutMs = Math.min(ownMs, workspace.commands?.maxMs ?? ownMs);
    return toInnerTool({
      ...{ server: name, announced, timeoutMs, home: workspace.name },
      call: (input, context) => call({ server: name, tool: announced.name, input, timeoutMs }, context),
    });
  }
}
