import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { alphanumerics, fake } from '../../../test/support/fake-secrets.ts';
import { createRedactor } from './redact.ts';

const redact = createRedactor(new Map());

describe('tokens of known services', () => {
  test.each([
    ['aws-access-key', fake('AKIA', 'IOSFODNN7EXAMPLE')],
    ['aws-access-key', fake('ASIA', 'IOSFODNN7EXAMPLE')],
    ['github-fine-grained-pat', fake('github_pat_', alphanumerics.slice(0, 82))],
    ['github-pat', fake('ghp_', alphanumerics.slice(0, 36))],
    ['github-oauth', fake('gho_', alphanumerics.slice(0, 36))],
    ['github-oauth', fake('ghs_', alphanumerics.slice(0, 40))],
    ['anthropic-api-key', fake('sk-ant-', 'api03-', alphanumerics.slice(0, 24))],
    ['openai-api-key', fake('sk-', alphanumerics.slice(0, 48))],
    ['openai-api-key', fake('sk-proj-', 'abcdefghijklmnopqrstuvwx')],
    ['openai-api-key', fake('sk-proj-', 'a1B2_c3-D4e5F6g7H8i9J0k1L2_m3')],
    ['google-api-key', fake('AIza', alphanumerics.slice(0, 35))],
    ['slack-token', fake('xoxb-', '1234567890-abcdefghij')],
    ['stripe-live-key', fake('sk_live_', alphanumerics.slice(0, 24))],
    ['stripe-live-key', fake('rk_live_', alphanumerics.slice(0, 30))],
    ['jwt', fake('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0', '.abc_DEF-ghi123')],
  ])('%s', (name, token) => {
    const mark = `[REDACTED:${name}]`;
    expect(redact(token)).toBe(mark);
    expect(redact(`key="${token}", then ${token}.`)).toBe(`key="${mark}", then ${mark}.`);
    expect(redact(`x\\n${token}\\n`)).toBe(`x\\n${mark}\\n`);
    expect(redact(`${token}\n`.repeat(3))).toBe(`${mark}\n`.repeat(3));
  });

  test.each([
    ['a style sheet', '.sk-fading-circle-animation-delay-xyz { animation: sk-cube-grid-scale-delay 1.2s; }'],
    ['an ordinary word before it', 'task-abcdefghijklmnopqrstuvwxyz0123 disk-0123456789abcdefghij0123'],
    ['too short', fake('ghp_', 'a'.repeat(35))],
    ['too short', fake('AKIA', 'IOSFODNN7EXAMPL')],
    ['too long', fake('AKIA', 'IOSFODNN7EXAMPLEX')],
    ['within a word', fake('x', 'AKIA', 'IOSFODNN7EXAMPLE')],
    ['a placeholder', 'xoxb-your-token-here sk-your-api-key-goes-here'],
    ['two of three parts', fake('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0')],
  ])('not redacted: %s', (_, text) => {
    expect(redact(text)).toBe(text);
  });
});

test.each([
  ['redis://:pw@h', 'redis://[REDACTED:basic-auth-url]@h'],
  ['postgres://user:pass@db:5432/x', 'postgres://[REDACTED:basic-auth-url]@db:5432/x'],
  ['https://user:p%40ss@host/a@b', 'https://[REDACTED:basic-auth-url]@host/a@b'],
  ['mysql://u:p@ss#1?x@host', 'mysql://[REDACTED:basic-auth-url]@host'],
  ['git+https://u:p@[::1]:8080/', 'git+https://[REDACTED:basic-auth-url]@[::1]:8080/'],
  ['"amqp://a:b@c","amqp://a:b@c"', '"amqp://[REDACTED:basic-auth-url]@c","amqp://[REDACTED:basic-auth-url]@c"'],
])('a password in the URL %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each([
  ['Authorization: Bearer abc123def456ghi789', 'Authorization: Bearer [REDACTED:bearer-token]'],
  [`curl -H 'authorization: bearer ab.C_d~1+/=' x`, `curl -H 'authorization: bearer [REDACTED:bearer-token]' x`],
  [`{"Authorization":"Bearer abc123def456"}`, `{"Authorization":"Bearer [REDACTED:bearer-token]"}`],
  ['Proxy-Authorization: Basic dXNlcjpwYXNz', 'Proxy-Authorization: Basic [REDACTED:basic-auth-header]'],
])('the header %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

const mark = '[REDACTED:secret-env-assignment]';
const hex = 'a8f5f167f44f4964e6c998dee827110c';

test.each([
  ['DB_PASSWORD=hunter2hunter2', `DB_PASSWORD=${mark}`],
  ['export GITHUB_TOKEN=abc123def456', `export GITHUB_TOKEN=${mark}`],
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', `AWS_SECRET_ACCESS_KEY=${mark}`],
  ["PGPASSWORD='s3cret pw'", "PGPASSWORD='s3cret pw'"],
  ["PGPASSWORD='s3cretpw' psql", `PGPASSWORD='${mark}' psql`],
  [`client_secret=${hex}&x=1`, `client_secret=${mark}&x=1`],
  [`{"password": "S3cure!Passw0rd99"}`, `{"password": "${mark}"}`],
  [`{\\"api_key\\": \\"${hex}\\"}`, `{\\"api_key\\": \\"${mark}\\"}`],
  ['password: S3cr3tP4ss99x', `password: ${mark}`],
  [`X-API-Key: ${hex}`, `X-API-Key: ${mark}`],
  [`os.environ["API_KEY"] = "${hex}"`, `os.environ["API_KEY"] = "${mark}"`],
  [`token := "${hex}"`, `token := "${mark}"`],
  [`const apiKey = '${hex}';`, `const apiKey = '${mark}';`],
  [`secret=${alphanumerics.repeat(20)} x`, `secret=${mark} x`],
  [`a=1 token=${hex}, password=${hex}; b`, `a=1 token=${mark}, password=${mark}; b`],
  [`token=${hex}\npassword: ${hex}\nsecret=${hex}`, `token=${mark}\npassword: ${mark}\nsecret=${mark}`],
])('the assignment %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each([
  ['password: hunter2', `password: ${mark}`],
  ['  - password: hunter2hunter2  # of the test server', `  - password: ${mark}  # of the test server`],
  ['DB_PASSWORD: "p@ssword!"\r', `DB_PASSWORD: "${mark}"\r`],
  ["spring.datasource.password: 'Tr0ub4dor&3'", `spring.datasource.password: '${mark}'`],
  ['passphrase: correct-horse-battery-staple', `passphrase: ${mark}`],
  ['12\tmy_pwd: Admin1234', `12\tmy_pwd: ${mark}`],
  ['a.yml:3:password: pa$$word', `a.yml:3:password: ${mark}`],
])('the password that a person chose in %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
  expect(redact(`user: me\n${text}\nport: 5432\n`)).toBe(`user: me\n${redacted}\nport: 5432\n`);
});

test.each([
  'if token == nil {',
  'if (token === null) return',
  'const token = await f()',
  'const password = process.env.PASSWORD2;',
  'password: string',
  'password: Uint8Array',
  'password: sha256',
  'password: user2.password',
  'password: password2,',
  'password: password2;',
  'password: changeme',
  'password: your-password-1',
  'password: *password1',
  'password: !vault password1',
  'login(user, password: password1)',
  'password: 12345678',
  'password: z.string().min(12).max(128),',
  'token = get_token()',
  'token=get_token1234(a)',
  'token := lexer.NextToken2()',
  'token => token.id1234567890abc',
  'Token::Identifier2a3b4c5d',
  'self.token = self.token1.value2',
  'token: Uint8Array<ArrayBuffer>',
  'apiKey: Base64Encoded256BitKey,',
  'accessKey: "Ctrl+Shift+F12"',
  'secret: k8s-tls-secret-2',
  'private_key: /etc/ssl/private/server1.key.pem',
  'private_key: "./keys/a1b2c3d4e5f6.pem"',
  'TOKEN=$(cat file1)',
  `PASSWORD=\${DB_PASSWORD_1}`,
  `PASSWORD="\${DB_PASSWORD_1}"`,
  'password: "{{ vault_pw_1a2b3c4d }}"',
  'TOKEN=MY_TOKEN_V2',
  'API_KEY=your-api-key-here',
  'PASSWORD=changeme',
  '"password": "x"',
  '"token": "<your a1b2c3d4e5 token>"',
  'max_tokens: 4096',
  'token: 123456789012345678',
  'nextPageToken: "CAUQAA8sd7fs8d7f6sd8f7s6df"',
  'expires_token=2024-01-01T00:00:00Z',
  'token = sha256WithRSAEncryption',
  'http://localhost:3000/x?email=a@b.com',
  'http://localhost:3000?email=a@b.com',
  'http://localhost:5173/@vite/client',
  'https://cdn.example.com/npm/foo@1.2.3',
  'ssh://git@github.com:22/a/b',
  'git@github.com:a/b.git',
  'http://[::1]@evil.org/',
  `http://user:$PASSWORD@host http://\${user}:\${password}@host http://%s:%s@host`,
  'docker://alpine:3.18@sha256:abcdef0123456789',
  'Authorization: Bearer <token>',
  'Authorization: Bearer YOUR_ACCESS_TOKEN',
  `headers: { Authorization: \`Bearer \${token}\` }`,
  'Authorization: Basic authentication is used',
  'case "token": return Token.A1b2C3d4E5f6;',
  'const begin = "-----BEGIN PRIVATE KEY-----"; const end = "-----END PRIVATE KEY-----";',
  'const names = new Map([["-----BEGIN RSA PRIVATE KEY-----", rsa], ["-----END RSA PRIVATE KEY-----", rsa]]);',
])('leaves %s alone', (text) => {
  expect(redact(text)).toBe(text);
  expect(redact(`  ${text}\n`.repeat(2))).toBe(`  ${text}\n`.repeat(2));
});

test('redacting twice gives the same as once', () => {
  const lines = [
    `DB_PASSWORD=${hex}`,
    'redis://:pw@h',
    `{"token":"${hex}"}`,
    'Authorization: Bearer abc123def456',
    `token: ${hex}`,
  ];
  const once = redact(lines.join('\n'));
  expect(redact(once)).toBe(once);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(redact(redact(text))).toBe(redact(text));
    }),
  );
});

const ordinary =
  'The quick brown fox: jumps over = the lazy dog (see https://example.com/a?b=c) and "quoted": words.\n';

test('a search without a match costs no more than a plain replacement', async () => {
  const text = ordinary.repeat(1024 ** 2 / ordinary.length);
  const withSecrets = createRedactor(
    new Map(Array.from({ length: 20 }, (_, index) => [`s${index}`, randomBytes(20).toString('hex')])),
  );
  expect(withSecrets(text)).toBe(text);
  await expectCheap(() => withSecrets(text), 2);
});

test.each([
  ['token starts', 'sk-'],
  ['anthropic starts', 'sk-ant-'],
  ['jwt starts', 'eyJ-'],
  ['jwt starts and a payload', `${'eyJ-'.repeat(1000)}.eyJ`],
  ['slack starts', 'xoxb-'],
  ['slack starts with digits', 'xoxb-1_'],
  ['github starts', 'ghp_'],
  ['aws starts', 'AKIA'],
  ['hyphens', '-'],
  ['key labels', 'PRIVATE KEY'],
  ['begin marks', '-----BEGIN PRIVATE KEY-----'],
  ['begin marks and lines', `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n`],
  ['end marks and lines', `${'A'.repeat(64)}\n-----END PRIVATE KEY-----`],
  ['begin marks, spaces', `-----BEGIN PRIVATE KEY-----\n${' '.repeat(500)}`],
  ['url starts', 'a://'],
  ['url users', 'a://b:c'],
  ['url users and marks', 'a://b:c@?'],
  ['colons', ':'],
  ['equals signs', '='],
  ['assignments', 'token='],
  ['assignments of each other', 'token:'],
  ['assignments with quotes', 'token="'],
  ['passwords', 'password: '],
  ['passwords on one line', 'password: password:password-a-a-a-a-'],
  ['passwords of hyphens', `password: ${'a-'.repeat(60)}\n`],
  ['passwords after blanks', `password:${' '.repeat(60)}`],
  ['assignments with two quotes', `token="token='`],
  ['assignments with escapes', 'token=\\"\\'],
  ['assignments of secrets', `token=${hex}:`],
  ['headers', 'authorization:bearer '],
  ['spaces', ' '],
  ['spaces before signs', 'token        ='],
  ['letters', 'a'],
  ['letters beyond Latin', 'é–'],
  ['parts of a secret', 'aaaaaaaa'],
  ['a value', 'q7W3e9R1t5Y2u8I4'],
])('a megabyte of %s takes little time', async (_, piece) => {
  const hostile = createRedactor(
    new Map([
      ['a', 'a'.repeat(40)],
      ['q', 'q7W3e9R1t5Y2u8I4o6P0a7S3d9F1g5H2j8K4l6Z0'],
    ]),
  );
  const text = piece.repeat(Math.ceil(1024 ** 2 / piece.length));
  await expectCheap(() => hostile(text), 100);
});

test('half a megabyte of one pattern, then half of another', async () => {
  const halves = ['sk-', '-', 'eyJ-', '.eyJ', 'token:'].map((piece) => piece.repeat((512 * 1024) / piece.length));
  for (const first of halves) for (const second of halves) await expectCheap(() => redact(first + second), 100);
});
