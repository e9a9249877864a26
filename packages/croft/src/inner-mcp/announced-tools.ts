import { cleanObject, cleanText, isObject, type JsonRecord } from './clean-json.ts';

/** A tool that an MCP server announces, with its texts cleaned and cut for display. */
export interface AnnouncedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonRecord;
}

export interface Announced {
  readonly tools: ReadonlyMap<string, AnnouncedTool>;
  /** The tools that were left out, each with the reason. */
  readonly notes: readonly string[];
}

const maxTools = 128;
const maxPages = 16;
/** Limit on all that one server announces about its tools. */
const maxChars = 512 * 1024;
const maxSchemaChars = 32 * 1024;
const maxDescription = 4096;
const maxTitle = 200;
const maxNotes = 8;
const toolName = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Asks a server for its tools page by page, and stops at 16 pages, 128 tools or 512 K characters, whichever comes
 * first.
 */
export async function listAnnounced(
  askFor: (params: JsonRecord) => Promise<JsonRecord>,
  only: ReadonlySet<string> | undefined,
): Promise<Announced> {
  const list = createList(only);
  let cursor: unknown;
  for (let page = 0; page < maxPages; page += 1) {
    const result = await askFor(typeof cursor === 'string' ? { cursor } : {});
    if (Array.isArray(result.tools)) result.tools.every(list.add);
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '' || list.isFull()) return list.announced();
  }
  list.note(`all after ${maxPages} pages`);
  return list.announced();
}

function createList(only: ReadonlySet<string> | undefined) {
  const tools = new Map<string, AnnouncedTool>();
  const notes: string[] = [];
  let [chars, isFull] = [0, false];
  const note = (words: string) => {
    if (notes.length < maxNotes) notes.push(words);
  };
  return {
    note,
    isFull: () => isFull,
    announced: (): Announced => ({ tools, notes }),
    /** Returns whether the list takes more tools. */
    add(given: unknown): boolean {
      const name = isObject(given) ? given.name : undefined;
      if (typeof name !== 'string' || !toolName.test(name))
        note(`a tool named ${cleanText(JSON.stringify(name) ?? 'nothing', 80)}`);
      else if (tools.has(name)) note(`a second tool named ${name}`);
      else if (isObject(given) && (only?.has(name) ?? true)) keep(name, given);
      return !isFull;
    },
  };

  function keep(name: string, given: JsonRecord): void {
    const { tool, size, flaw } = toTool(name, given);
    isFull = tools.size >= maxTools || chars + size > maxChars;
    if (isFull) note(`all tools after the first ${tools.size}`);
    else tools.set(name, tool);
    if (flaw !== undefined && !isFull) note(flaw);
    chars += size;
  }
}

function toTool(name: string, { title, description, inputSchema }: JsonRecord) {
  const schema = toSchema(inputSchema);
  const tool: AnnouncedTool = {
    name,
    title: (typeof title === 'string' && cleanText(title, maxTitle)) || name,
    description: typeof description === 'string' ? cleanText(description, maxDescription) : '',
    inputSchema: schema ?? { type: 'object' },
  };
  const flaw = schema ? undefined : `the schema of ${name}, which is too large or none`;
  return { tool, size: JSON.stringify(tool).length, flaw };
}

/** Croft only shows the schema. The server itself validates its input against the schema. */
function toSchema(given: unknown): JsonRecord | undefined {
  const schema = cleanObject(given, (text) => cleanText(text, maxSchemaChars));
  if (!schema || JSON.stringify(schema).length > maxSchemaChars) return undefined;
  const { $schema: _, ...body } = schema;
  return { ...body, type: 'object' };
}
