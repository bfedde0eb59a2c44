import { channel } from 'node:diagnostics_channel'

/**
 * The name of the channel on which every outside call is announced. The tests fail a call that is made inside
 * a transaction.
 */
export const OUTSIDE_CALLS = 'loam:outside-calls'

const calls = channel(OUTSIDE_CALLS)

/** Announces a call before it is made. This costs nothing while nobody listens. */
export function announceCall(what: string): void {
  if (calls.hasSubscribers) calls.publish(what)
}
