import type { XmlElement } from '@rgrove/parse-xml';
import { childElements, parseXmlDocuments } from './junit.ts';

/** One test of a TRX report, the format of Visual Studio tests. */
export interface TrxResult {
  readonly name: string;
  /** The class and method, in the form in which the test is requested. */
  readonly id: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly message: string;
  readonly stack: string;
}

interface TrxReport {
  readonly results: readonly TrxResult[];
  /** Errors of the run itself, such as a test program that crashed. */
  readonly errors: readonly string[];
}

/** Reads one report or several concatenated reports. Returns `undefined` if one of them is not a TRX report. */
export function parseTrx(text: string): TrxReport | undefined {
  const roots = parseXmlDocuments(text);
  if (!roots?.every(({ name }) => name === 'TestRun')) return undefined;
  return { results: roots.flatMap(readResults), errors: roots.flatMap(readErrors) };
}

function readResults(root: XmlElement): TrxResult[] {
  const methods = new Map(childrenOf(root, 'TestDefinitions').flatMap(toMethod));
  return childrenOf(root, 'Results').flatMap((result) => toResult(result, methods));
}

function readErrors(root: XmlElement): string[] {
  const infos = childrenOf(root, 'ResultSummary').filter(({ name }) => name === 'RunInfos');
  return infos
    .flatMap(childElements)
    .filter(({ attributes }) => attributes.outcome === 'Error')
    .map((info) => info.text.trim());
}

/** Returns the children of all elements named `name` directly below `root`. */
function childrenOf(root: XmlElement, name: string): XmlElement[] {
  return childElements(root)
    .filter((element) => element.name === name)
    .flatMap(childElements);
}

function toMethod(test: XmlElement): [string, string][] {
  const method = childElements(test).find(({ name }) => name === 'TestMethod');
  const { className = '', name = '' } = method?.attributes ?? {};
  return test.attributes.id === undefined ? [] : [[test.attributes.id, `${className}.${name}`]];
}

function toResult(result: XmlElement, methods: ReadonlyMap<string, string>): TrxResult[] {
  if (result.name !== 'UnitTestResult') return [];
  const { testName = '', testId = '', outcome = '' } = result.attributes;
  const error = childrenOf(result, 'Output').find(({ name }) => name === 'ErrorInfo');
  const textOf = (kind: string) => (error ? childElements(error) : []).find(({ name }) => name === kind)?.text ?? '';
  const id = methods.get(testId) ?? testName;
  return [{ name: testName, id, state: stateOf(outcome), message: textOf('Message'), stack: textOf('StackTrace') }];
}

/** Every unknown outcome counts as failed. */
function stateOf(outcome: string): TrxResult['state'] {
  if (outcome === 'Passed') return 'passed';
  return ['NotExecuted', 'Inconclusive', 'NotRunnable', 'Pending'].includes(outcome) ? 'skipped' : 'failed';
}
