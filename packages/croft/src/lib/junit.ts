import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** One test of a JUnit report, the one format that most runners can write. */
export interface JunitCase {
  readonly name: string;
  readonly className: string;
  /** The suites that it is in, outermost first. */
  readonly suites: readonly string[];
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly state: 'passed' | 'failed' | 'error' | 'skipped';
  /** What is said of it, first in short. */
  readonly message: string;
  readonly text: string;
  /** What it printed. */
  readonly output: string;
}

const maxCases = 200_000;
/** Suites are in suites, but nobody needs more of them than this. */
const maxDepth = 50;

/** Every test of one report or of several joined ones; nothing if one of them is not a report. */
export function parseJunit(text: string): JunitCase[] | undefined {
  const roots = parseDocuments(text);
  const isReport = roots?.every(({ name }) => name === 'testsuites' || name === 'testsuite');
  if (!roots || !isReport) return undefined;
  const cases: JunitCase[] = [];
  return roots.every((root) => collect(root, { file: root.attributes.file, suites: [] }, cases)) ? cases : undefined;
}

/** The roots of documents that follow each other; nothing if one of them is not well-formed. */
export function parseDocuments(text: string): XmlElement[] | undefined {
  const clean = withoutIllegal(text);
  const whole = tryParse(clean);
  if (whole) return [whole];
  // Not all of them end with the end of a line.
  const documents = clean.split(/(?<=^|>)(?=<\?xml )/m).filter((part) => part.trim() !== '');
  const roots = documents.map(tryParse).filter((root) => root !== undefined);
  return roots.length > 0 && roots.length === documents.length ? roots : undefined;
}

function tryParse(document: string): XmlElement | undefined {
  try {
    return parseXml(document.trim(), { ignoreUndefinedEntities: true }).root ?? undefined;
  } catch {
    return undefined;
  }
}

interface Around {
  readonly file: string | undefined;
  readonly suites: readonly string[];
}

/** Whether it could be read to the end. */
function collect(element: XmlElement, around: Around, into: JunitCase[]): boolean {
  if (around.suites.length > maxDepth) return false;
  return elementsOf(element).every((child) => {
    if (child.name === 'testcase') return into.push(toCase(child, around)) < maxCases;
    if (child.name !== 'testsuite') return true;
    const { file = around.file, name = '' } = child.attributes;
    return collect(child, { file, suites: [...around.suites, name] }, into);
  });
}

function toCase(element: XmlElement, { file, suites }: Around): JunitCase {
  const { name = '', classname = '', file: own, line, status = '' } = element.attributes;
  const parts = elementsOf(element);
  const problem = parts.find(({ name: kind }) => kind === 'failure' || kind === 'error') ?? parts.find(isSkip);
  const number = Number(line);
  return {
    name,
    className: classname,
    suites,
    file: own ?? file,
    line: Number.isInteger(number) && number > 0 ? number : undefined,
    state: problem ? stateOf(problem.name) : notRun.has(status) ? 'skipped' : 'passed',
    message: problem?.attributes.message ?? '',
    text: problem?.text ?? '',
    output: parts.find(({ name: kind }) => kind === 'system-out')?.text ?? '',
  };
}

const isSkip = ({ name }: XmlElement) => name === 'skipped' || name === 'disabled';

/** What CTest and GoogleTest say of those that were left out, without an element for it. */
const notRun = new Set(['disabled', 'notrun']);

function stateOf(name: string): JunitCase['state'] {
  return name === 'failure' ? 'failed' : name === 'error' ? 'error' : 'skipped';
}

export function elementsOf(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

const control = '[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]';
const illegal = new RegExp(control, 'g');
const illegalReference = /&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/gi;

/** Runners print whatever a test printed, which may hold what no XML may. */
function withoutIllegal(text: string): string {
  return text.toWellFormed().replaceAll('\ufeff', '').replace(illegal, '').replace(illegalReference, '');
}
