import { channel } from 'node:diagnostics_channel'
import type { z } from 'zod'
import type { Log } from '../../lib/log.ts'

/** A reply that is not of the shape that its provider's file expects: the provider may have changed it. */
export type Misfit = {
  provider: string
  /** Where in the reply, such as `data.email`; empty for all of it. No values: those are somebody's data. */
  at: string
  problem: string
}

const misfits = channel('loam:provider-misfit')

export function tellMisfit(misfit: Misfit): void {
  misfits.publish(misfit)
}

/** Calls `listener` for every misfit in this process, until the function that it returns is called. */
export function onMisfit(listener: (misfit: Misfit) => void): () => void {
  const hear = (message: unknown) => listener(message as Misfit)
  misfits.subscribe(hear)
  return () => misfits.unsubscribe(hear)
}

const QUIET_MS = 60_000
const MAX_KNOWN = 1000

/** Logs misfits, each place once a minute: a whole run may meet the same one. Returns what ends that. */
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

/** The place of an issue; of a union that of the alternative which came the furthest. */
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
