/** What either side may ask of the other. Both know these; what goes beyond them is a fault and never memory. */

/** Of a frame of bytes. */
export const maxDataBytes = 64 * 1024;
/** Of a frame of JSON: params, an answer, a message. Anything larger goes through a channel. */
export const maxJsonBytes = 1024 * 1024;
/** Frames of one moment share a message up to this size. */
export const batchBytes = 128 * 1024;
/** Of a message: a frame alone may be larger than what is shared. */
export const maxMessageBytes = maxJsonBytes + batchBytes;

/** Bytes of a channel on their way or waiting for their reader, before anything was read. */
export const initialWindow = 64 * 1024;
/** The same once it is read. */
export const fullWindow = 256 * 1024;
/** Charged for every frame of a channel beside its bytes: a flood of single bytes costs memory as well. */
export const frameCost = 128;

export const channelCount = 8;
/** Calls of one side that are open at once. */
export const maxCalls = 4096;
/** Messages that nobody listens to yet, in one call. */
export const maxUnreadMessages = 1024;
export const maxUnreadMessageBytes = 1024 * 1024;

/** Bytes without an acknowledgement, from which on writers wait. */
export const fullLinkBytes = 16 * 1024 * 1024;
/** The same, from which on the other side is taken for gone: it reads nothing and asks on. */
export const maxLinkBytes = 64 * 1024 * 1024;
/** Handed to a connection and not written yet. */
export const maxBufferedBytes = 1024 * 1024;

/** An acknowledgement that found nothing to travel with. */
export const ackAfterMs = 25;
export const ackAfterBytes = 512 * 1024;
