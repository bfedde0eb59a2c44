import { isRecord } from '../../tokens.ts'
import type { Step } from '../waterfall-steps.ts'

/** Returns the steps of a waterfall, or null if a form cannot show them. */
export function readSteps(value: unknown): Step[] | null {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return null
  const steps = value.flatMap((item: unknown): Step[] => {
    if (typeof item === 'string') return [item]
    if (!isRecord(item) || typeof item['name'] !== 'string') return []
    const { name, use_own_key: own, ...rest } = item
    if (Object.keys(rest).length > 0 || typeof name !== 'string') return []
    if (own === undefined) return [{ name }]
    return typeof own === 'boolean' ? [{ name, use_own_key: own }] : []
  })
  return steps.length === value.length ? steps : null
}
