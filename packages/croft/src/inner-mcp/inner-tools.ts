import { AppError } from '@croft/protocol';
import { within } from '../core/commands/run-command.ts';
import type { MoreTools, WantedTool } from '../core/more-tools.ts';
import type { Session } from '../core/session.ts';
import type { Tool } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { AnnouncedTool } from './announced-tools.ts';
import { createCaller } from './call-inner-tool.ts';
import { prefix, readName, toInnerTool } from './inner-tool.ts';
import { createServerPool, type ServerPoolOptions, type Wanted } from './server-pool.ts';
import { createWhichServers, type WhichServersOptions } from './which-servers.ts';

export interface InnerToolsOptions extends ServerPoolOptions, WhichServersOptions {}

/** For a list: a server that has not answered by then is left out. */
const listMs = 10_000;
const defaultCallMs = 120_000;
/** In more of them nobody's list starts a sandbox. */
const maxListed = 16;

/** The tools of MCP servers that run in the sandboxes of the sessions that call them. */
export function createInnerTools(options: InnerToolsOptions): MoreTools {
  const pool = createServerPool(options);
  const which = createWhichServers(options);
  const call = createCaller({ pool, which });
  return { isName: (name) => name.startsWith(prefix), list, find };

  async function list(session: Session): Promise<readonly Tool[]> {
    const listed = which.usable().slice(0, maxListed);
    const tools = (await Promise.all(listed.map((workspace) => listIn(workspace, session)))).flat();
    const names = tools.map(({ name }) => name);
    return tools.filter(({ name }, index) => names.indexOf(name) === index);
  }

  async function listIn(workspace: Workspace, session: Session): Promise<Tool[]> {
    const note = (server: string, words: string) => pool.tell({ workspace, session }, server, 'ignored', words);
    const wanted = await which.toList(workspace, note);
    const tools = wanted.map(([name, server]) => listOf({ name, server, workspace, session }));
    return (await Promise.all(tools)).flat();
  }

  async function listOf(wanted: Wanted): Promise<Tool[]> {
    const { name, session } = wanted;
    try {
      const announced = await within(announcedBy(wanted, session.signal), listMs);
      if (announced) return [...announced.values()].map((tool) => toTool(wanted, tool));
      pool.tell(wanted, name, 'late', `it did not answer within ${listMs / 1000} s, and is listed without its tools`);
    } catch (thrown) {
      const { code, message } = AppError.from(thrown);
      // How a server itself failed was told when it did.
      if (code !== 'E_MCP_SERVER') pool.tell(wanted, name, 'failed', message);
    }
    return [];
  }

  async function find({ name, workspace: hint, session, signal }: WantedTool): Promise<Tool | undefined> {
    const parts = readName(name);
    const workspace = which.pickFor(hint);
    if (!parts || !workspace) return undefined;
    const findIn = async (place: Workspace) => {
      const server = await which.find(place, parts.server);
      if (!server) return undefined;
      const wanted = { name: parts.server, server, workspace: place, session };
      const tool = (await announcedBy(wanted, signal)).get(parts.tool);
      return tool && toTool(wanted, tool);
    };
    const found = await findIn(workspace);
    // One that has a `workspace` of its own cannot be told where to work.
    const [home = workspace] = which.usable();
    return found?.home === undefined || found.home === home.name ? found : findIn(home);
  }

  async function announcedBy(wanted: Wanted, signal: AbortSignal): Promise<ReadonlyMap<string, AnnouncedTool>> {
    return pool.use(wanted, async (server) => (await server.tools(signal)).tools);
  }

  function toTool({ name, server, workspace }: Wanted, announced: AnnouncedTool): Tool {
    const ownMs = server.timeoutSeconds === undefined ? defaultCallMs : server.timeoutSeconds * 1000;
    const timeoutMs = Math.min(ownMs, workspace.commands?.maxMs ?? ownMs);
    return toInnerTool({
      ...{ server: name, announced, timeoutMs, home: workspace.name },
      call: (input, context) => call({ server: name, tool: announced.name, input, timeoutMs }, context),
    });
  }
}
