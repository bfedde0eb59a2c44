import { channel } from 'node:diagnostics_channel'
import type { z } from 'zod'
import type { Log } from '../../lib/log.ts'

/** A reply whose shape differs from what the provider's file expects. The provider may have changed it. */
export type Misfit = {
  provider: string
  /**
   * The place in the reply, such as `data.email`; empty for the whole reply. Never a value, which would be personal
   * data.
   */
  at: string
  problem: string
}

const misfits = channel('loam:provider-misfit')

export function tellMisfit(misfit: Misfit): void {
  misfits.publish(misfit)
}

/** Calls `listener` for every misfit in this process, until the returned function is called. */
export function onMisfit(listener: (misfit: Misfit) => void): () => void {
  const handleMessage = (message: unknown) => listener(message as Misfit)
  misfits.subscribe(handleMessage)
  return () => misfits.unsubscribe(handleMessage)
}

const QUIET_MS = 60_000
const MAX_KNOWN = 1000

/**
 * Logs misfits, each place once a minute, because a whole run may meet the same one. Returns a function that stops the
 * logging.
 */
export function logMisfits(log: Pick<Log, 'warn'>, now: () => number = Date.now): () => void {
  const logged = new Map<string, number>()
  return onMisfit(({ provider, at, problem }) => {
    const name = `${provider} ${at}`
    if (now() - (logged.get(name) ?? -Infinity) < QUIET_MS) return
    if (logged.size >= MAX_KNOWN) logged.clear()
    logged.set(name, now())
    log.warn({ provider, at, problem }, 'a reply of a provider is not of the expected shape')
  })
}

type Issue = z.core.$ZodIssue

/** Returns the place of an issue. For a union it is that of the alternative that got the furthest. */
export function placeOf(issue: Issue): { at: string; problem: string } {
  const deepest = dig(issue, [])
  return { at: deepest.path.join('.'), problem: deepest.message }
}

function dig(issue: Issue, above: readonly PropertyKey[]): { path: string[]; message: string } {
  const path = [...above, ...issue.path]
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().map((one) => dig(one, path)) : []
  const here = { path: path.map(String), message: issue.message }
  return inner.reduce((best, one) => (one.path.length > best.path.length ? one : best), here)
}
