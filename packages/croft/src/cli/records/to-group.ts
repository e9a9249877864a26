import { UsageError } from '../../lib/usage-error.ts';
import { reportingErrors } from '../client.ts';
import { type Command, type CommandContext, type CommandGroup, defineGroup, type Invocation } from '../command.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { outputOptions, printJson, printRows, toCell } from '../output/print-rows.ts';
import { findRecord } from './find-record.ts';
import type { Made, Noun } from './noun.ts';

type Given = Invocation<Record<string, unknown>>;

/** The verbs of a noun: list, show, create, delete and, for a record with a secret, rotate. */
export function toGroup<Reach, Row>(noun: Noun<Reach, Row>): CommandGroup {
  const { aliases = {}, rotate } = noun;
  const verbs = {
    list: toList(noun),
    show: toShow(noun),
    create: toCreate(noun),
    delete: toDelete(noun, 'delete'),
    ...(rotate && { rotate: toRotate(noun, rotate) }),
    ...Object.fromEntries(Object.keys(aliases).map((verb) => [verb, toDelete(noun, verb)])),
  };
  return defineGroup(noun.name, verbs);
}

function toList<Reach, Row>(noun: Noun<Reach, Row>): Command {
  return toVerb(noun, 'list', '[--json | -q]', outputOptions, async ({ values, positionals }, terminal) => {
    mustHave(positionals, 0, `croft ${noun.name} list`);
    const rows = await noun.list(noun.open(values, terminal), values);
    printRows({ ...noun, rows, answer: { [noun.name]: rows } }, values, terminal);
  });
}

function toShow<Reach, Row>(noun: Noun<Reach, Row>): Command {
  const usage = `${noun.one.toUpperCase()} [--json]`;
  return toVerb(noun, 'show', usage, { json: outputOptions.json }, async ({ values, positionals }, terminal) => {
    const [wanted] = mustHave(positionals, 1, `croft ${noun.name} show ${usage}`);
    const row = findRecord(await noun.list(noun.open(values, terminal), values), wanted, noun) as object;
    const lines = Object.entries(row).map(([field, value]) => `${field}\t${toCell(toText(value))}\n`);
    if (values.json) printJson(row, terminal.stdout);
    else terminal.stdout.write(lines.join(''));
  });
}

function toCreate<Reach, Row>(noun: Noun<Reach, Row>): Command {
  const { usage, options, isNamed, run } = noun.create;
  const own = { ...options, json: outputOptions.json };
  return toVerb(noun, 'create', usage, own, async ({ values, positionals }, terminal) => {
    const [name = ''] = mustHave(positionals, isNamed ? 1 : 0, `croft ${noun.name} create ${usage}`);
    printMade(await run(noun.open(values, terminal), name, values, terminal), values, terminal);
  });
}

function toDelete<Reach, Row>(noun: Noun<Reach, Row>, verb: string): Command {
  const usage = `${noun.one.toUpperCase()}… [--json]`;
  return toVerb(noun, verb, usage, { json: outputOptions.json }, async ({ values, positionals }, terminal) => {
    const wanted = mustHave(positionals, Math.max(1, positionals.length), `croft ${noun.name} ${verb} ${usage}`);
    const client = noun.open(values, terminal);
    const rows = await noun.list(client, values);
    // All are found before the first is deleted: a misspelt name deletes nothing.
    for (const row of wanted.map((name) => findRecord(rows, name, noun))) await noun.remove(client, row, values);
    if (values.json) printJson({ deleted: true }, terminal.stdout);
  });
}

function toRotate<Reach, Row>(noun: Noun<Reach, Row>, rotate: NonNullable<Noun<Reach, Row>['rotate']>): Command {
  const usage = `${noun.one.toUpperCase()} [--json]`;
  return toVerb(noun, 'rotate', usage, { json: outputOptions.json }, async ({ values, positionals }, terminal) => {
    const [wanted] = mustHave(positionals, 1, `croft ${noun.name} rotate ${usage}`);
    const client = noun.open(values, terminal);
    const row = findRecord(await noun.list(client, values), wanted, noun);
    printMade(await rotate(client, row), values, terminal);
  });
}

type Work = (given: Given, terminal: CommandContext) => Promise<void>;

function toVerb<Reach, Row>(
  noun: Noun<Reach, Row>,
  verb: string,
  usage: string,
  options: Command['options'],
  work: Work,
): Command {
  return {
    name: `${noun.name} ${verb}`,
    usage: `croft ${noun.name} ${verb} ${usage}`,
    options: { ...options, ...noun.options },
    run: (given, terminal) =>
      reportingErrors(terminal, async () => {
        await work(given, terminal);
        return exitCodes.done;
      }),
  };
}

function mustHave(positionals: readonly string[], count: number, usage: string): [string, ...string[]] {
  if (positionals.length !== count) throw new UsageError(`usage: ${usage}`);
  return positionals as [string, ...string[]];
}

/** Prints only the secret, or else the id, on standard output, so that it can be redirected to a file. */
function printMade({ answer, id, secret }: Made, values: Given['values'], { stdout, stderr }: CommandContext): void {
  if (secret && !values.json) stderr.write(`${secret.about}\n`);
  if (values.json) printJson(answer, stdout);
  else stdout.write(`${secret?.value ?? id}\n`);
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
