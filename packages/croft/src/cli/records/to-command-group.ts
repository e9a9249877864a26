import { UsageError } from '../../lib/usage-error.ts';
import { type Command, type CommandContext, type CommandGroup, defineGroup, type Invocation } from '../command.ts';
import { reportingErrors } from '../open-client.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { outputOptions, printJson, printRecord, printRows } from '../output/print-rows.ts';
import { findRecord } from './find-record.ts';
import type { Made, Noun } from './noun.ts';

type Given = Invocation<Record<string, unknown>>;

/** The verbs of a noun: list, show, create, edit, delete and, for a record with a secret, rotate. */
export function toCommandGroup<Reach, Row>(noun: Noun<Reach, Row>): CommandGroup {
  const { aliases = {}, edit, rotate } = noun;
  const verbs = {
    list: toList(noun),
    show: toShow(noun),
    create: toCreate(noun),
    ...(edit && { edit: toEdit(noun, edit) }),
    delete: toDelete(noun, 'delete'),
    ...(rotate && { rotate: toRotate(noun, rotate) }),
    ...Object.fromEntries(Object.keys(aliases).map((verb) => [verb, toDelete(noun, verb)])),
  };
  return defineGroup(noun.name, verbs);
}

function toList<Reach, Row>(noun: Noun<Reach, Row>): Command {
  const about = { usage: '[--json | -q]', options: outputOptions, examples: ['', '--json'] };
  return toVerb(noun, 'list', about, async ({ values, positionals }, terminal) => {
    mustHave(positionals, 0, `croft ${noun.name} list`);
    const rows = await noun.list(noun.open(values, terminal), values);
    printRows({ ...noun, rows, answer: { [noun.name]: rows } }, values, terminal);
  });
}

function toShow<Reach, Row>(noun: Noun<Reach, Row>): Command {
  const usage = `${noun.one.toUpperCase()} [--json]`;
  const about = { usage, options: { json: outputOptions.json }, examples: [noun.example] };
  return toVerb(noun, 'show', about, async ({ values, positionals }, terminal) => {
    const [wanted] = mustHave(positionals, 1, `croft ${noun.name} show ${usage}`);
    const row = findRecord(await noun.list(noun.open(values, terminal), values), wanted, noun) as object;
    if (values.json) printJson(row, terminal.stdout);
    else printRecord(row, terminal);
  });
}

function toCreate<Reach, Row>(noun: Noun<Reach, Row>): Command {
  const { usage, options, examples, isNamed, run } = noun.create;
  const about = { usage, options: { ...options, json: outputOptions.json }, examples, words: [[]] };
  return toVerb(noun, 'create', about, async ({ values, positionals }, terminal) => {
    const [name = ''] = mustHave(positionals, isNamed ? 1 : 0, `croft ${noun.name} create ${usage}`);
    printMade(await run(noun.open(values, terminal), name, values, terminal), values, terminal);
  });
}

function toEdit<Reach, Row>(noun: Noun<Reach, Row>, edit: NonNullable<Noun<Reach, Row>['edit']>): Command {
  const usage = `${noun.one.toUpperCase()} ${edit.usage} [--json]`;
  const about = { usage, options: { ...edit.options, json: outputOptions.json }, examples: edit.examples };
  return toVerb(noun, 'edit', about, async ({ values, positionals }, terminal) => {
    const [wanted] = mustHave(positionals, 1, `croft ${noun.name} edit ${usage}`);
    if (!Object.keys(edit.options).some((flag) => flag !== 'if-version' && values[flag] !== undefined))
      throw new UsageError(`say what changes; usage: croft ${noun.name} edit ${usage}`);
    const client = noun.open(values, terminal);
    const row = findRecord(await noun.list(client, values), wanted, noun);
    printMade({ answer: await edit.run(client, row, values), id: noun.idOf(row) }, values, terminal);
  });
}

function toDelete<Reach, Row>(noun: Noun<Reach, Row>, verb: string): Command {
  const usage = `${noun.one.toUpperCase()}… [--json]`;
  const about = { usage, options: { json: outputOptions.json }, examples: [noun.example] };
  return toVerb(noun, verb, about, async ({ values, positionals }, terminal) => {
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
  const about = { usage, options: { json: outputOptions.json }, examples: [noun.example] };
  return toVerb(noun, 'rotate', about, async ({ values, positionals }, terminal) => {
    const [wanted] = mustHave(positionals, 1, `croft ${noun.name} rotate ${usage}`);
    const client = noun.open(values, terminal);
    const row = findRecord(await noun.list(client, values), wanted, noun);
    printMade(await rotate(client, row), values, terminal);
  });
}

type Work = (given: Given, terminal: CommandContext) => Promise<void>;

type About = Pick<Command, 'usage' | 'options' | 'examples' | 'words'>;

/** Makes the command of one verb. `examples` are the words after the verb. */
function toVerb<Reach, Row>(noun: Noun<Reach, Row>, verb: string, about: About, work: Work): Command {
  const name = `${noun.name} ${verb}`;
  return {
    ...{ name, usage: `croft ${name} ${about.usage}`, words: about.words ?? [noun.name] },
    examples: about.examples.map((rest) => `croft ${name} ${rest}`.trim()),
    options: { ...about.options, ...noun.options },
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
  const { ignored = [] } = answer as { readonly ignored?: readonly string[] };
  if (ignored.length > 0) stderr.write(`croft: ignored, because no such setting exists: ${ignored.join(', ')}\n`);
  if (values.json) printJson(answer, stdout);
  else stdout.write(`${secret?.value ?? id}\n`);
}
