import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { EscapeFixture, EscapeOutcome, ScriptResult } from './escape.ts';
import { type Listener, listenAt, listenEverywhere } from './recording-listener.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

const body = 'an answer from this machine';
const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
const refused = /^HTTP\/1\.1 4\d\d /;
const failed = /^HTTP\/1\.1 [45]\d\d /;

/** Servers on this machine: one that the default policy allows, and closed ones on every address. */
export interface Servers {
  readonly allowed: Listener;
  readonly closed: readonly Listener[];
  /** A closed server on the same address as the allowed one. */
  readonly other: Listener;
}

export interface RestrictedAttempt {
  /** Builds the policy. By default only the allowed server is allowed. */
  policy?(servers: Servers): Pick<NetworkPolicy & { mode: 'restricted' }, 'domains' | 'cidrs'>;
  /** Whether the allowed server must be reachable afterwards, as a control. */
  readonly hasControl?: boolean;
  /** Whether a request may fail for another reason too, such as a host name that this machine does not know. */
  readonly mayFail?: boolean;
  /** Requests sent to the proxy byte for byte, one connection each. None may get past the proxy. */
  requests?(servers: Servers): readonly (string | Buffer)[];
  /** A further attack in the same sandbox. */
  further?(fixture: EscapeFixture, servers: Servers): Promise<readonly Problem[]>;
}

/**
 * Makes requests that the proxy of a restricted sandbox must refuse. Checks afterwards that the allowed server is
 * reachable: if nothing works, the attempt proves nothing.
 */
export async function attemptRestrictedNetwork(
  fixture: EscapeFixture,
  attempt: RestrictedAttempt,
): Promise<EscapeOutcome> {
  await using stack = new AsyncDisposableStack();
  const listen = async (address: string) => stack.use(await listenAt(address, answer));
  const [allowed, other] = [await listen('127.0.0.1'), await listen('127.0.0.1')];
  const rest = await listenEverywhere(answer);
  for (const listener of rest) stack.use(listener);
  const servers: Servers = { allowed, other, closed: [other, ...rest] };
  const { domains, cidrs } = attempt.policy?.(servers) ?? { domains: [], cidrs: [toCidr(allowed)] };
  const own = await fixture.open({ network: { mode: 'restricted', domains, cidrs } });

  const requests = attempt.requests?.(servers) ?? [];
  const ran = requests.length > 0 ? await ask(own, requests, { untilTaken: true }) : undefined;
  const heard = (await Promise.all([...servers.closed, allowed].map((server) => server.findHeard()))).flat();
  if (heard.length > 0) return toVerdict(heard);
  const further = (await attempt.further?.(own, servers)) ?? [];
  if (further.some(Boolean)) return toVerdict(further);
  const control = attempt.hasControl === false ? [] : await findControl(own, allowed);
  const judged = ran ? judgeAnswers(ran, requests.length, attempt.mayFail) : [];
  return toVerdict(judged, control);
}

const toCidr = ({ address, port }: Listener) => `${address}/${address.includes(':') ? 128 : 32}:${port}`;
export const toAuthority = ({ address, port }: Listener) => `${bracket(address)}:${port}`;
export const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address);

/** A GET request with an absolute URL, as clients send it to a proxy. */
export function get(authority: string, host = authority.replace(/^.*@/, ''), ...headers: readonly string[]): string {
  const lines = [`GET http://${authority}/ HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

export function tunnelTo(authority: string): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
}

interface AskOptions {
  /** Time limit for the rest of an answer after its first line. */
  readonly seconds?: number;
  /** Whether to stop after the first request that is accepted: that one is enough, and may last long. */
  readonly untilTaken?: boolean;
}

/** Sends each request to the proxy from inside and returns the answers, each after a separator line. */
export function ask(
  fixture: EscapeFixture,
  requests: readonly (string | Buffer)[],
  { seconds = 2, untilTaken = false }: AskOptions = {},
): Promise<ScriptResult> {
  for (const [index, request] of requests.entries()) {
    writeFileSync(join(fixture.workspace, `request-${String(index).padStart(3, '0')}`), request);
  }
  return fixture.run(`for request in request-*; do
    echo; echo "--- $request"
    exec 3<>/dev/tcp/127.0.0.1/3128 || continue
    cat "$request" >&3; IFS= read -rt ${seconds} first <&3; echo "$first"
    case "$first" in *' 200 '*) ${untilTaken ? 'break' : ':'};; esac
    timeout ${seconds} cat <&3 | head -c 3000; exec 3>&-
  done 2>/dev/null; rm -f request-*`);
}

function answersIn({ output }: ScriptResult): string[] {
  return output
    .split(/^--- request-\d+\n/m)
    .slice(1)
    .map((text) => text.trim());
}

/** Every request must be refused, and the command's result must report a denial. */
function judgeAnswers(ran: ScriptResult, asked: number, mayFail = false): Problem[] {
  const answers = answersIn(ran);
  const missing = answers.length !== asked && `${answers.length} of ${asked} requests were answered`;
  const strange = answers.filter((text) => !(mayFail ? failed : refused).test(text) || text.includes(body));
  const isReported = mayFail || ran.denials.some(({ layer }) => layer === 'network');
  return [
    missing,
    ...strange.map((text) => `not refused: ${text.slice(0, 100)}`),
    !isReported && 'no denial was reported',
  ];
}

async function findControl(fixture: EscapeFixture, allowed: Listener): Promise<Problem[]> {
  const { output } = await ask(fixture, [get(toAuthority(allowed))]);
  if (!output.includes(body)) throw new Error(`what is allowed is not reached, so nothing is shown: ${output}`);
  return [];
}
