import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** One test case of a JUnit report, the format that most test runners can write. */
export interface JunitCase {
  readonly name: string;
  readonly className: string;
  /** The suites around the test case, outermost first. */
  readonly suites: readonly string[];
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly state: 'passed' | 'failed' | 'error' | 'skipped';
  /** The short message of the failure, error or skip; `text` is the long form. */
  readonly message: string;
  readonly text: string;
  /** Standard output of the test case. */
  readonly output: string;
}

const maxCases = 200_000;
/** Deepest nesting of suites that is read. */
const maxDepth = 50;

/**
 * Returns every test case of one report or of several concatenated reports, or `undefined` if one of them is not a
 * JUnit report.
 */
export function parseJunit(text: string): JunitCase[] | undefined {
  const roots = parseXmlDocuments(text);
  const isReport = roots?.every(({ name }) => name === 'testsuites' || name === 'testsuite');
  if (!roots || !isReport) return undefined;
  const cases: JunitCase[] = [];
  return roots.every((root) => collect(root, { file: root.attributes.file, suites: [] }, cases)) ? cases : undefined;
}

/** Returns the root elements of concatenated XML documents, or `undefined` if one of them is not well-formed. */
export function parseXmlDocuments(text: string): XmlElement[] | undefined {
  const clean = withoutIllegal(text);
  const whole = tryParse(clean);
  if (whole) return [whole];
  // The next document may follow without a line break.
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

interface SuiteContext {
  readonly file: string | undefined;
  readonly suites: readonly string[];
}

/**
 * Adds the test cases below `element` to `into`. Returns false if the report nests too deeply or has too many cases.
 */
function collect(element: XmlElement, around: SuiteContext, into: JunitCase[]): boolean {
  if (around.suites.length > maxDepth) return false;
  return childElements(element).every((child) => {
    if (child.name === 'testcase') return into.push(toCase(child, around)) < maxCases;
    if (child.name !== 'testsuite') return true;
    const { file = around.file, name = '' } = child.attributes;
    return collect(child, { file, suites: [...around.suites, name] }, into);
  });
}

function toCase(element: XmlElement, { file, suites }: SuiteContext): JunitCase {
  const { name = '', classname = '', file: own, line, status = '' } = element.attributes;
  const parts = childElements(element);
  const problem = parts.find(({ name: kind }) => kind === 'failure' || kind === 'error') ?? parts.find(isSkip);
  const number = Number(line);
  return {
    name,
    className: classname,
    suites,
    file: own ?? file,
    line: Number.isInteger(number) && number > 0 ? number : undefined,
    state: problem ? stateOf(problem.name) : skippedStatuses.has(status) ? 'skipped' : 'passed',
    message: problem?.attributes.message ?? '',
    text: problem?.text ?? '',
    output: parts.find(({ name: kind }) => kind === 'system-out')?.text ?? '',
  };
}

const isSkip = ({ name }: XmlElement) => name === 'skipped' || name === 'disabled';

/** Values of `status` with which CTest and GoogleTest mark a skipped test, without an element of its own. */
const skippedStatuses = new Set(['disabled', 'notrun']);

function stateOf(name: string): JunitCase['state'] {
  return name === 'failure' ? 'failed' : name === 'error' ? 'error' : 'skipped';
}

export function childElements(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

const control = '[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]';
const illegal = new RegExp(control, 'g');
const illegalReference = /&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/gi;

/** Removes characters that XML does not allow: test runners copy the output of tests into their reports unchanged. */
function withoutIllegal(text: string): string {
  return text.toWellFormed().replaceAll('\ufeff', '').replace(illegal, '').replace(illegalReference, '');
}
