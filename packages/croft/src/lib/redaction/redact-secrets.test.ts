import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alphanumerics, fake } from '../../../test/support/fake-secrets.ts';
import { createRedactor, redactDeep } from './redact.ts';

describe('a configured secret', () => {
  const value = 'pä"ss/w+rd <&> 7';
  const withSecret = createRedactor(new Map([['db', value]]));

  test.each([
    ['plain', value],
    ['JSON', JSON.stringify(value).slice(1, -1)],
    ['JSON of Go', 'pä\\"ss/w+rd \\u003c\\u0026\\u003e 7'],
    ['JSON of Python', 'p\\u00e4\\"ss/w+rd <&> 7'],
    ['JSON of PHP', 'pä\\"ss\\/w+rd <&> 7'],
    ['a URL', encodeURIComponent(value)],
    ['a URL in lower case', encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ['a form', new URLSearchParams({ a: value }).toString().slice(2)],
  ])('is redacted as %s', (_, form) => {
    expect(withSecret(`<${form}>`)).toBe('<[REDACTED:db]>');
  });

  test.each(['base64', 'base64url'] as const)('is redacted in %s, at any offset', (encoding) => {
    for (const before of ['', 'x', 'xy', 'xyz'])
      for (const after of ['', 'x', 'xy']) {
        const encoded = Buffer.from(`${before}${value}${after}`).toString(encoding);
        const shown = withSecret(encoded);
        expect(shown).toContain('[REDACTED:db]');
        // Only characters that hold bits of both values may remain.
        expect(shown.replace('[REDACTED:db]', '').length).toBeLessThanOrEqual(before.length * 2 + after.length * 2 + 4);
      }
  });

  test('is not searched if it is short', () => {
    expect(
      createRedactor(
        new Map([
          ['pin', '12345'],
          ['empty', ''],
          ['blank', '  \n '],
        ]),
      )('pin 12345   \n '),
    ).toBe('pin 12345   \n ');
    expect(createRedactor(new Map([['pin', '123456']]))('pin 123456')).toBe('pin [REDACTED:pin]');
  });

  test('with a newline at its end is found without it', () => {
    expect(createRedactor(new Map([['a', 'abcdefgh\n']]))('x abcdefgh y')).toBe('x [REDACTED:a] y');
  });

  test('is found in parts, wrapped and cut, if it is random', () => {
    const secret = 'q7W3e9R1t5Y2u8I4o6P0a7S3d9F1g5H2j8K4l6Z0';
    const redactSecret = createRedactor(new Map([['key', secret]]));
    expect(redactSecret(secret.slice(0, 30))).toMatch(/^\[REDACTED:key\].{0,3}$/);
    expect(redactSecret(secret.slice(11))).toMatch(/^.{0,3}\[REDACTED:key\]$/);
    const wrapped = Buffer.from(`${'x'.repeat(40)}${secret.repeat(3)}`)
      .toString('base64')
      .replace(/.{76}/g, '$&\n');
    const shown = redactSecret(wrapped).split('\n');
    expect(shown).toHaveLength(3);
    for (const line of shown) expect(line).toContain('[REDACTED:key]');
  });

  test('of several lines is found line by line, as in a key file', () => {
    const body =
      randomBytes(1200)
        .toString('base64')
        .match(/.{1,64}/g) ?? [];
    const file = ['-----BEGIN X-----', ...body, '-----END X-----'].join('\n');
    const redactFile = createRedactor(new Map([['file', file]]));
    const numbered = file.split('\n').map((line, index) => `${index + 1}\t${line}`);
    expect(redactFile(file)).toBe('[REDACTED:file]');
    for (const line of numbered.slice(1, -1)) expect(redactFile(line)).toMatch(/^\d+\t\[REDACTED:file\]$/);
    expect(redactFile(numbered[0] ?? '')).toBe(numbered[0]);
  });

  test('that is long and not random leaves text that it shares with others', () => {
    const url = `postgres://app:${'not-so-secret-'.repeat(4)}@db.internal:5432/app`;
    const redactUrl = createRedactor(new Map([['url', url]]));
    expect(redactUrl(`x ${url} y`)).toBe('x [REDACTED:url] y');
    expect(redactUrl('host db.internal:5432/app')).toBe('host db.internal:5432/app');
  });

  test('is found inside another secret, beside it and overlapping it', () => {
    const nested = createRedactor(
      new Map([
        ['outer', 'abcdefghij'],
        ['inner', 'cdefgh'],
        ['next', 'hijklm'],
      ]),
    );
    expect(nested('abcdefghij')).toBe('[REDACTED:outer]');
    expect(nested('xcdefghx')).toBe('x[REDACTED:inner]x');
    expect(nested('abcdefghijklm')).toBe('[REDACTED:outer]');
    expect(nested('cdefghhijklm')).toBe('[REDACTED:inner][REDACTED:next]');
  });

  test('is named by its own name rather than by its shape', () => {
    const token = fake('ghp_', alphanumerics.slice(0, 36));
    const redactToken = createRedactor(new Map([['github', token]]));
    expect(redactToken(`https://x:${token}@github.com GITHUB_TOKEN=${token}`)).toBe(
      'https://[REDACTED:github]@github.com GITHUB_TOKEN=[REDACTED:github]',
    );
  });

  test('of any kind never gets through', () => {
    const secret = fc.string({ unit: 'binary', minLength: 6, maxLength: 80 }).filter((text) => text.trim().length >= 6);
    const around = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(secret, around, around, (text, before, after) => {
        fc.pre(text.isWellFormed());
        const redactText = createRedactor(new Map([['s', text]]));
        for (const form of [
          text,
          encodeURIComponent(text),
          JSON.stringify(text),
          Buffer.from(text).toString('base64'),
        ]) {
          const shown = redactText(before + form + after);
          expect(shown).toContain('[REDACTED:s]');
          expect(shown).not.toContain(text.trim());
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('structured results', () => {
  const withSecret = createRedactor(new Map([['db', 'hunter2!']]));

  test('every string is redacted, and no key', () => {
    const value = { a: ['x hunter2!', 1, null, { 'hunter2!': 'hunter2!' }], b: true, c: undefined };
    expect(redactDeep(value, withSecret)).toEqual({
      a: ['x [REDACTED:db]', 1, null, { 'hunter2!': '[REDACTED:db]' }],
      b: true,
      c: undefined,
    });
    expect(value.a[0]).toBe('x hunter2!');
  });

  test('the same objects come back if there was no secret', () => {
    const clean = { list: ['a', Number.NaN, { deep: 'b' }] };
    expect(redactDeep(clean, withSecret)).toBe(clean);
    const mixed = { clean, dirty: 'hunter2!' };
    expect(redactDeep(mixed, withSecret).clean).toBe(clean);
  });

  test('each string is redacted separately', () => {
    const key = alphanumerics.slice(0, 64);
    const pieces = [
      ...[
        'hunter2!',
        'hunter',
        '2!',
        'DB_PASSWORD',
        '=',
        ': ',
        '"',
        '\\',
        '\n',
        ' ',
        'a.ts',
        fake('s', 'k-'),
        fake('gh', 'p_'),
      ],
      ...['-----BEGIN RSA PRIVATE KEY-----', '-----END RSA PRIVATE KEY-----', key, 'a1B2c3D4e5F6', '(', 'https://'],
      ...[
        'user:pass',
        '@',
        'host',
        'Authorization: Bearer ',
        fake('AK', 'IA'),
        'IOSFODNN7EXAMPLE',
        fake('ey', 'J'),
        '.',
      ],
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(text, { minLength: 16, maxLength: 24 }), (texts) => {
        expect(redactDeep(texts, withSecret)).toEqual(texts.map(withSecret));
      }),
      { numRuns: 2000 },
    );
  });

  test('a key header in one string does not hide the end of a key in another', () => {
    const texts = Array.from({ length: 20 }, (_, index) => `src/file-${index}.ts`);
    texts[3] = '-----BEGIN RSA PRIVATE KEY-----';
    texts[4] = 'if (code) {';
    texts[9] = `${alphanumerics.slice(0, 64)}\n-----END RSA PRIVATE KEY-----`;
    expect(redactDeep(texts, withSecret)).toEqual(texts.map(withSecret));
    expect(redactDeep(texts, withSecret)[9]).toContain('[REDACTED:');
  });

  test('values other than arrays and plain objects stay as they are', () => {
    const date = new Date();
    const bytes = Buffer.from('hunter2!');
    const value = { date, bytes, own: JSON.parse('{"__proto__":"hunter2!"}') };
    const shown = redactDeep(value, withSecret);
    expect(shown.date).toBe(date);
    expect(shown.bytes).toBe(bytes);
    expect(JSON.stringify(shown.own)).toBe('{"__proto__":"[REDACTED:db]"}');
  });
});
