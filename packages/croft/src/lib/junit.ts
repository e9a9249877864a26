import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** One test of a JUnit report, the one format that most runners can write. */
export interface JunitCase {
  readonly name: string;
  readonly className: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly state: 'passed' | 'failed' | 'error' | 'skipped';
  /** What is said of it, first in short. */
  readonly message: string;
  readonly text: string;
}

const maxCases = 200_000;

/** Every test of one report or of several joined ones; nothing if one of them is not a report. */
export function parseJunit(text: string): JunitCase[] | undefined {
  const documents = text.split(/(?=<\?xml )/).filter((part) => part.trim() !== '');
  const cases: JunitCase[] = [];
  for (const document of documents) {
    const root = tryParse(document);
    if (!root || !['testsuites', 'testsuite'].includes(root.name)) return undefined;
    collect(root, root.attributes.file, cases);
  }
  return documents.length === 0 ? undefined : cases;
}

function tryParse(document: string): XmlElement | undefined {
  try {
    // Runners print whatever a test printed, which may hold what no XML may.
    return parseXml(withoutControl(document), { ignoreUndefinedEntities: true }).root ?? undefined;
  } catch {
    return undefined;
  }
}

function collect(element: XmlElement, file: string | undefined, into: JunitCase[]): void {
  for (const child of elementsOf(element)) {
    if (into.length >= maxCases) return;
    if (child.name === 'testcase') into.push(toCase(child, file));
    else if (child.name === 'testsuite') collect(child, child.attributes.file ?? file, into);
  }
}

function toCase(element: XmlElement, file: string | undefined): JunitCase {
  const { name = '', classname = '', file: own, line } = element.attributes;
  const problem = elementsOf(element).find(({ name: kind }) => ['failure', 'error', 'skipped'].includes(kind));
  const number = Number(line);
  return {
    name,
    className: classname,
    file: own ?? file,
    line: Number.isInteger(number) && number > 0 ? number : undefined,
    state: problem ? stateOf(problem.name) : 'passed',
    message: problem?.attributes.message ?? '',
    text: problem?.text ?? '',
  };
}

function stateOf(name: string): JunitCase['state'] {
  return name === 'failure' ? 'failed' : name === 'error' ? 'error' : 'skipped';
}

function elementsOf(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

function withoutControl(text: string): string {
  const isFine = (unit: number) => unit > 31 || unit === 9 || unit === 10 || unit === 13;
  return [...text].filter((character) => isFine(character.charCodeAt(0))).join('');
}
