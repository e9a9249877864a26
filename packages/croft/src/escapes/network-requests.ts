import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { connect } from 'node:tls';
import {
  ask,
  attemptRestrictedNetwork,
  get,
  type RestrictedAttempt,
  type Servers,
  toAuthority,
  tunnelTo,
} from './attempt-restricted-network.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { pause } from './probe-neighbour-under-load.ts';
import type { Problem } from './to-verdict.ts';

/** More than the sockets and pipes on the way can buffer. */
const maxUnread = 24 * 1024 * 1024;
/** After this many turns without progress, the other side takes no more data. */
const stillTurns = 10;

/** Attacks on a restricted policy by the form of a request. */
export const networkRequests: readonly Escape[] = [
  restricted('E69', 'a tunnel whose hello names another server, or is none', {
    further: attemptForgedHello,
  }),
  restricted('E71', 'a request whose URL and Host name different servers', {
    requests({ allowed, other }) {
      const [good, evil] = [toAuthority(allowed), toAuthority(other)];
      return [
        ...[
          get(good, evil),
          get(evil, good),
          get(good, good, `Host: ${evil}`),
          get(good, `${good},${evil}`),
          get(good, ''),
        ],
        get(good).replace(/Host: .*\r\n/, ''),
        get(good, 'evil.example'),
        `GET / HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`,
        `GET //${evil}/ HTTP/1.1\r\nHost: ${good}\r\nConnection: close\r\n\r\n`,
        `GET ftp://${evil}/ HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`,
      ];
    },
  }),
  restricted('E72', 'a request that ends in two places', {
    requests({ allowed }) {
      const good = toAuthority(allowed);
      const hidden = `0\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n`;
      const post = (...headers: string[]) => get(good, good, ...headers).replace('GET', 'POST') + hidden;
      return [
        post('Content-Length: 5', 'Content-Length: 60'),
        post('Content-Length: 5', 'Transfer-Encoding: chunked'),
        post('Content-Length: +5'),
        post('Content-Length: 5, 60'),
        post('Transfer-Encoding: gzip, chunked'),
        post('Transfer-Encoding: xchunked'),
        post('Transfer-Encoding : chunked'),
        post('X: a\r\n Content-Length: 60', 'Content-Length: 5', 'content-length: 6'),
        `GET http://${good}/ HTTP/1.1\nHost: ${good}\r\rX: y\n\n`,
        `GET http://${good}/\0 HTTP/1.1\r\nHost: ${good}\r\n\r\n`,
        `GET http://${good}/ HTTP/9.9\r\nHost: ${good}\r\n\r\n`,
        `GET http://${good}/a b HTTP/1.1\r\nHost: ${good}\r\n\r\n`,
      ];
    },
  }),
  restricted('E72b', 'a refused request behind an allowed one, and one in a tunnel', {
    async further(fixture, { allowed, other }) {
      const [good, evil] = [get(toAuthority(allowed)).replace('Connection: close\r\n', ''), get(toAuthority(other))];
      const inside = `GET / HTTP/1.1\r\nHost: ${toAuthority(other)}\r\nConnection: close\r\n\r\n`;
      const whole = get(toAuthority(other));
      await ask(fixture, [
        good + evil,
        tunnelTo(toAuthority(allowed)) + inside,
        tunnelTo(toAuthority(allowed)) + whole,
      ]);
      return other.findHeard();
    },
  }),
  restricted('E73', 'a redirect to where nobody may go', {
    requests: ({ other }) => [get(toAuthority(other)), get('169.254.169.254')],
    further: attemptRedirect,
  }),
  restricted('E75b', 'the socket of the proxy, without the relay', {
    async further(fixture, { other }) {
      const url = `http://${toAuthority(other)}/`;
      const { output } = await fixture.run(`command -v curl >/dev/null || exit 0; ls /run/croft
        curl -sS --max-time 5 --unix-socket /run/croft/proxy.sock --request-target ${url} ${url} 2>&1`);
      const isJudged = output === '' || output.includes('Blocked by the network policy');
      return [...(await other.findHeard()), !isJudged && `the socket answered: ${output.slice(0, 200)}`];
    },
  }),
  restricted('E79', 'an answer without end that nobody reads', { further: attemptEndless }),
  restricted('E80', 'datagrams and other protocols, asked of the proxy', {
    requests({ other }) {
      const evil = toAuthority(other);
      return [
        get(evil, evil, 'Upgrade: connect-udp', 'Capsule-Protocol: ?1').replace('close', 'close, Upgrade'),
        get(evil, evil, 'Upgrade: websocket').replace('close', 'close, Upgrade'),
        get(evil, evil, 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__').replace('close', 'close, Upgrade'),
        `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
        `OPTIONS * HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`,
        tunnelTo(`${evil}0`),
        tunnelTo(`${other.address}:0`),
        tunnelTo(`${other.address}:-1`),
        tunnelTo(`${other.address}:${other.port + 65_536}`),
        tunnelTo(other.address),
      ];
    },
  }),
];

/** A client that does not read must slow the server down; nothing in between may buffer without limit. */
async function attemptEndless(fixture: EscapeFixture, { allowed }: Servers): Promise<Problem[]> {
  const usual = allowed.words.answer;
  let sent = 0;
  const chunk = Buffer.alloc(64 * 1024);
  allowed.words.answer = () =>
    new Readable({
      read() {
        sent += chunk.length;
        this.push(sent === chunk.length ? 'HTTP/1.1 200 OK\r\n\r\n' : chunk);
      },
    });
  const open = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${toAuthority(allowed)}/ HTTP/1.1\\r\\nHost: ${toAuthority(allowed)}\\r\\n\\r\\n' >&3`;
  const command = `${open}; head -c 4 <&3; sleep 60`;
  const { structured } = await fixture.call('bash', { command, run_in_background: true });
  await untilStill(() => Math.min(sent, maxUnread + 1));
  await fixture.call('kill_shell', { shell_id: structured.shell_id });
  allowed.words.answer = usual;
  return [sent > maxUnread && `${sent} bytes were taken for a program that reads none`];
}

/** Waits until a growing number stops growing. */
async function untilStill(read: () => number): Promise<void> {
  const endAt = performance.now() + 20_000;
  for (let [last, turns] = [0, 0]; last === 0 || turns < stillTurns; turns += 1) {
    if (performance.now() > endAt && last === 0) throw new Error('the server was never asked');
    await pause(100);
    if (read() !== last) turns = 0;
    last = read();
  }
}

function restricted(id: string, title: string, attempt: RestrictedAttempt): Escape {
  return { id, title, guards: ['network'], attempt: (fixture) => attemptRestrictedNetwork(fixture, attempt) };
}

/** The tunnel may connect to the server, but may not carry a byte for another server, or anything but TLS. */
async function attemptForgedHello(fixture: EscapeFixture, { allowed }: Servers): Promise<Problem[]> {
  const tunnel = Buffer.from(tunnelTo(toAuthority(allowed)));
  const hello = await captureHello('evil.example');
  const others = ['SSH-2.0-OpenSSH_9.9\r\n', '\0\0\0\0\0\0\0\0', '\x16\x03\x01\x00\x05hello', 'EHLO evil.example\r\n'];
  await ask(
    fixture,
    [hello, ...others.map((text) => Buffer.from(text))].map((first) => Buffer.concat([tunnel, first])),
    { seconds: 1 },
  );
  const words = allowed.heard.splice(0).filter((text) => text !== 'a connection');
  return [words.length > 0 && `a tunnel carried ${JSON.stringify(words[0]?.slice(0, 40))}`];
}

/** Returns the first bytes of a TLS connection to a server of that name. */
async function captureHello(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, servername }).on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [hello] = await once(socket, 'data');
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** Follows a redirect with curl, where there is one. The `requests` of the escape ask for the target by hand. */
async function attemptRedirect(fixture: EscapeFixture, { allowed, other }: Servers): Promise<Problem[]> {
  const usual = allowed.words.answer;
  const problems: Problem[] = [];
  for (const target of [toAuthority(other), '169.254.169.254']) {
    allowed.words.answer = `HTTP/1.1 302 Found\r\nLocation: http://${target}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const { output } = await fixture.run(`command -v curl >/dev/null || { echo Blocked; exit; }
      curl -sSL --max-time 5 --noproxy '' http://${toAuthority(allowed)}/ 2>&1`);
    if (!output.includes('Blocked')) problems.push(`the redirect to ${target} was followed: ${output.slice(0, 100)}`);
  }
  allowed.words.answer = usual;
  return [...problems, ...(await other.findHeard())];
}
