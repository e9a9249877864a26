import { z } from 'zod';
import { type CoverageData, type CoverageTool, defineCoverageTool } from '../core/project-tools/coverage-tool.ts';
import { readJson } from '../core/readers/reader-helpers.ts';
import { type CountedRange, coveredLines } from '../lib/coverage/covered-lines.ts';
import { mappedLines } from '../lib/coverage/mapped-lines.ts';

/** The source map of a script that a loader produced. */
const SourceMap = z.object({
  lineLengths: z.array(z.int().min(0)),
  mappings: z.string(),
  sources: z.array(z.string()),
  sourcesContent: z.array(z.string().nullable()).default([]),
});

/** One script of one process, as the `keepOwn` script prints it. */
const Script = z.object({
  url: z.string(),
  isMapped: z.boolean(),
  map: SourceMap.optional().catch(undefined),
  ranges: z.array(z.tuple([z.int().min(0), z.int().min(0), z.number()])),
});
type Script = z.output<typeof Script>;

/** Most scripts of one report: each is read, and its lines are counted. */
const maxScripts = 20_000;

/**
 * Runs in the sandbox and keeps the project's scripts: nearly all of Node's coverage data is about Node itself and
 * about packages.
 */
const keepOwn = `
const { readdirSync, readFileSync } = require('node:fs');
const [place, root] = process.argv.slice(1);
const own = require('node:url').pathToFileURL(root).href + '/';
for (const name of readdirSync(place)) {
  const { result, 'source-map-cache': maps = {} } = JSON.parse(readFileSync(place + '/' + name, 'utf8'));
  for (const { url, functions } of result) {
    if (!url.startsWith(own) || url.includes('/node_modules/')) continue;
    const ranges = functions.flatMap((one) => one.ranges.map((range) => [range.startOffset, range.endOffset, range.count]));
    const made = maps[url];
    const map = made && made.data ? { ...made.data, lineLengths: made.lineLengths } : undefined;
    console.log(JSON.stringify({ url, isMapped: made !== undefined, map, ranges }));
  }
}`;

const testFile =
  /(?:^|\/)(?:test|test-[^/]+|[^/]+[._-](?:test|spec))\.[cm]?[jt]sx?$|(?:^|\/)(?:test|__tests__)\/(?:.+\/)?[^/]+\.[cm]?[jt]sx?$/;

/** V8's own coverage. Exact for code that runs as it was written, or whose loader provides a source map. */
export const v8: CoverageTool = defineCoverageTool({
  name: 'V8',
  tools: ['node-test', 'mocha'],
  isTestFile: (path) => testFile.test(path) && !/\.d\.[cm]?ts$/.test(path),
  toRun: ({ runnerArgv, dataPath }) => ({ argv: runnerArgv, environment: { NODE_V8_COVERAGE: dataPath } }),
  toReport: ({ dataPath, workspacePath }) => ['node', '-e', keepOwn, dataPath, workspacePath],
  async read(data) {
    const scripts = data.text.split('\n').flatMap((line) => readJson(Script, line) ?? []);
    if (scripts.length > maxScripts) return undefined;
    const ran = new Map<string, Set<number>>();
    const inexact = new Set<string>();
    for (const script of scripts) {
      const counted = script.isMapped ? await mappedLinesOf(script, data) : await ownLinesOf(script, data);
      for (const [path, lines] of counted) ran.set(path, (ran.get(path) ?? new Set()).union(new Set(lines)));
      if (counted.length === 0) inexact.add(toPath(script.url));
    }
    // A killed process leaves no data, which says nothing about what it executed.
    const hasTest = [...ran.keys(), ...inexact].some((path) => path.endsWith(`/${data.request.testFile}`));
    if (!hasTest) return undefined;
    return { files: new Map([...ran].map(([path, lines]) => [path, [...lines]])), inexact: [...inexact] };
  },
});

type FileLines = readonly [path: string, lines: readonly number[]];

/** Returns the executed lines of a script without a source map; none if the script is not the text of the file. */
async function ownLinesOf(script: Script, data: CoverageData): Promise<FileLines[]> {
  const path = toPath(script.url);
  const text = await data.readText(path);
  if (text === undefined) return [];
  const length = lengthOf(script);
  // Node adds this line after it has blanked out types.
  const added = `\n\n//# sourceURL=${script.url}`.length;
  // Some loaders remove a byte order mark.
  const source = [text, text.replace(/^\uFEFF/, '')].find((one) => [0, added].includes(length - one.length));
  return source === undefined ? [] : [[path, coveredLines(source, rangesOf(script))]];
}

/**
 * Returns the executed lines of a script with a source map, only for sources that still have the text which the script
 * was made from.
 */
async function mappedLinesOf(script: Script, data: CoverageData): Promise<FileLines[]> {
  const { map, url } = script;
  if (!map || map.lineLengths.reduce((sum, length) => sum + length + 1, -1) !== lengthOf(script)) return [];
  const paths = map.sources.map((source) => toPath(source, url));
  const texts = await Promise.all(paths.map(async (path) => (await data.readText(path)) ?? ''));
  const all = mappedLines({ ...map, sources: texts }, rangesOf(script));
  return paths.flatMap((path, index): FileLines[] => {
    const was = map.sourcesContent[index] ?? (path === toPath(url) ? texts[index] : undefined);
    return was !== undefined && was !== '' && was === texts[index] ? [[path, all[index] ?? []]] : [];
  });
}

function rangesOf({ ranges }: Script): CountedRange[] {
  return ranges.map(([start, end, count]) => ({ start, end, count }));
}

function lengthOf({ ranges }: Script): number {
  return ranges.reduce((longest, [, end]) => Math.max(longest, end), 0);
}

/** Returns the path of a URL; empty for an invalid one. */
function toPath(url: string, base?: string): string {
  try {
    return decodeURIComponent(new URL(url, base).pathname);
  } catch {
    return '';
  }
}
