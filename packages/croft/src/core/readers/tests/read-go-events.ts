import { z } from 'zod';
import { readJson } from '../reader-helpers.ts';

const Event = z.object({
  Action: z.string(),
  Package: z.string().default(''),
  Test: z.string().optional(),
  Output: z.string().default(''),
});

export interface GoTest {
  readonly package: string;
  readonly name: string;
  state: 'running' | 'pass' | 'fail' | 'skip';
  output: string;
}

export interface GoRun {
  readonly tests: readonly GoTest[];
  /** Failed packages, with their output outside of tests. */
  readonly failedPackages: ReadonlyMap<string, string>;
  /** Lines that are no events, mostly compiler errors. */
  readonly rest: string;
}

const maxOutput = 20_000;

/** Reads the output of `go test -json`: one event per line and, from older versions, plain lines between them. */
export function readGoEvents(text: string): GoRun {
  const tests = new Map<string, GoTest>();
  const packages = new Map<string, { output: string; isFailed: boolean }>();
  const rest: string[] = [];
  for (const line of text.split('\n')) {
    const event = line.startsWith('{') ? readJson(Event, line) : undefined;
    if (!event) rest.push(line);
    else if (event.Action === 'build-output') rest.push(event.Output.trimEnd());
    else if (event.Test === undefined) addToPackage(packages, event);
    else addToTest(tests, event, event.Test);
  }
  const failed = [...packages].filter(([, { isFailed }]) => isFailed);
  return {
    tests: [...tests.values()],
    failedPackages: new Map(failed.map(([name, { output }]) => [name, output])),
    rest: rest.join('\n'),
  };
}

type Event = z.output<typeof Event>;

function addToPackage(packages: Map<string, { output: string; isFailed: boolean }>, event: Event): void {
  const known = packages.get(event.Package) ?? { output: '', isFailed: false };
  if (known.output.length < maxOutput) known.output += event.Output;
  if (event.Action === 'fail') known.isFailed = true;
  packages.set(event.Package, known);
}

function addToTest(tests: Map<string, GoTest>, event: Event, name: string): void {
  const key = `${event.Package}\n${name}`;
  const test = tests.get(key) ?? { package: event.Package, name, state: 'running', output: '' };
  if (event.Action === 'pass' || event.Action === 'fail' || event.Action === 'skip') test.state = event.Action;
  if (test.output.length < maxOutput) test.output += event.Output;
  tests.set(key, test);
}
