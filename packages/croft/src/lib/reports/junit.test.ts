import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJunit } from './junit.ts';

test('reads nested suites, each test with the nearest file', () => {
  const text = `<testsuites><testsuite name="a" file="a.js"><testsuite name="b"><testcase name="one" classname="b"/>
    <testcase name="two" file="b.js" line="7"><failure message="m">text</failure></testcase></testsuite></testsuite></testsuites>`;
  expect(parseJunit(text)).toMatchObject([
    { name: 'one', className: 'b', suites: ['a', 'b'], file: 'a.js', state: 'passed' },
    { name: 'two', file: 'b.js', line: 7, state: 'failed', message: 'm', text: 'text' },
  ]);
});

test('a test that failed and was skipped counts as failed', () => {
  const text = '<testsuite><testcase name="a"><skipped/><error message="x"/></testcase></testsuite>';
  expect(parseJunit(text)).toMatchObject([{ state: 'error' }]);
});

test('a test that a runner calls disabled or not run counts as not passed', () => {
  const text = '<testsuite><testcase name="a" status="disabled"/><testcase name="b" status="notrun"/></testsuite>';
  expect(parseJunit(text)?.map(({ state }) => state)).toEqual(['skipped', 'skipped']);
});

test('several reports in a row are read as one, unless one is cut off', () => {
  const one = '<?xml version="1.0"?>\n<testsuite><testcase name="a"/></testsuite>';
  expect(parseJunit(`${one}\n${one}`)).toHaveLength(2);
  // Joined as .NET reports are: each begins with a byte order mark and ends without a line break.
  expect(parseJunit(`\ufeff${one}\ufeff${one}`)).toHaveLength(2);
  expect(parseJunit(`${one}\n${one.slice(0, -3)}`)).toBeUndefined();
});

test('accepts characters in output of tests that XML does not allow', () => {
  const text =
    '\ufeff<testsuite><testcase name="a\u0000\u001b[1m"><failure message="&#27;&#x0;&#x1b;b"/></testcase></testsuite>';
  expect(parseJunit(text)).toMatchObject([{ name: 'a[1m', message: 'b' }]);
});

test('limits the depth, and reads no external entity', () => {
  expect(parseJunit('<testsuite>'.repeat(20_000) + '</testsuite>'.repeat(20_000))).toBeUndefined();
  const deep = `<testsuite><testcase><failure>${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}</failure></testcase></testsuite>`;
  expect(() => parseJunit(deep)).not.toThrow();
  const entity = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>';
  expect(JSON.stringify(parseJunit(entity) ?? [])).not.toContain('root:');
});

test('any text is read or refused without an exception', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseJunit(text)));
  fc.assert(fc.property(fc.string(), (text) => void parseJunit(`<testsuite><testcase name="${text}"/></testsuite>`)));
});
