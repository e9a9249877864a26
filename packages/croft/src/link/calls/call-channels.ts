import type { Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import { frameTypes, type LinkFrame, ProtocolFault } from '../transport/frames.ts';
import { channelCount } from '../transport/link-limits.ts';
import { InboundChannel } from './inbound-channel.ts';
import { encodeJson } from './json-codec.ts';
import { createMessageQueue } from './message-queue.ts';
import { type FrameSender, OutboundChannel } from './outbound-channel.ts';
import type { DuplexCall } from './peer.ts';

/** The channels and messages of one call, on either side. */
export class CallChannels {
  readonly #sender: FrameSender;
  readonly #inbound = new Map<number, InboundChannel>();
  readonly #outbound = new Map<number, OutboundChannel>();
  readonly #messages: ReturnType<typeof createMessageQueue>;
  #end: { readonly error: Error | undefined } | undefined;

  /** Calls `onBroken` when the call cannot continue. */
  constructor(road: FrameSender, onBroken: (error: AppError) => void) {
    this.#sender = road;
    this.#messages = createMessageQueue(onBroken);
  }

  get duplex(): DuplexCall {
    return {
      readable: (channel): Readable => this.#inboundOf(channel).stream,
      writable: (channel): Writable => this.#outboundOf(channel).stream,
      sendMessage: (message) => this.#sendMessage(message),
      onMessage: this.#messages.listen,
    };
  }

  receive(frame: LinkFrame): void {
    const { type, channel, payload } = frame;
    if (type === frameTypes.data) this.#inboundOf(channel).receive(payload);
    else if (type === frameTypes.tell) this.#messages.receive(payload);
    else if (type === frameTypes.credit) this.#outboundOf(channel).grant(payload.readUInt32LE(0));
    else this.#receiveEnd(frame);
  }

  /** Ends all channels that this side writes. Returns `undefined` if everything has already been queued. */
  finishWriting(): Promise<unknown> | undefined {
    if (this.#outbound.size === 0) return undefined;
    const waits = [...this.#outbound.values()].map((channel) => channel.end()).filter((wait) => wait !== undefined);
    return waits.length > 0 ? Promise.all(waits) : undefined;
  }

  /** Ends the call: nothing more is received or sent. With an error, open streams fail. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = { error };
    for (const channel of this.#inbound.values()) endInbound(channel, error);
    for (const channel of this.#outbound.values()) channel.close(error);
  }

  #receiveEnd({ type, channel }: LinkFrame): void {
    if (type !== frameTypes.end && type !== frameTypes.break) throw new ProtocolFault('a frame that does not fit here');
    const ended = this.#inboundOf(channel);
    if (ended.isEnded) throw new ProtocolFault('a second end of a channel');
    if (type === frameTypes.end) ended.end();
    else ended.fail(new AppError('E_CANCELLED', 'the other side stopped writing before the end'));
  }

  #sendMessage(message: unknown): void {
    const body = encodeJson(message, 'the contents of a message');
    if (!this.#end) this.#sender.send(frameTypes.tell, 0, body);
  }

  #inboundOf(channel: number): InboundChannel {
    const known = this.#inbound.get(checkChannel(channel));
    if (known) return known;
    const made = new InboundChannel((bytes) => {
      if (!this.#end && !made.isEnded) this.#sender.send(frameTypes.credit, channel, toUint32(bytes));
    });
    this.#inbound.set(channel, made);
    if (this.#end) endInbound(made, this.#end.error);
    return made;
  }

  #outboundOf(channel: number): OutboundChannel {
    const known = this.#outbound.get(checkChannel(channel));
    if (known) return known;
    const made = new OutboundChannel(channel, this.#sender);
    this.#outbound.set(channel, made);
    if (this.#end) made.close(this.#end.error);
    return made;
  }
}

/** A channel that already ended stays readable to its end, however the call ended. */
function endInbound(channel: InboundChannel, error: Error | undefined): void {
  if (channel.isEnded) return;
  if (error) channel.fail(error);
  else channel.end();
}

function checkChannel(channel: number): number {
  if (Number.isInteger(channel) && channel >= 0 && channel < channelCount) return channel;
  throw new RangeError(`a call has channels from 0 to ${channelCount - 1}, not ${channel}`);
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
