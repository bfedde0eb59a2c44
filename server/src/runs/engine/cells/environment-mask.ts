import type { Definition } from '../../../catalog/chain/definition.ts'
import { listTokens, mapStrings } from '../../../catalog/chain/reference-walk.ts'
import { moveChains } from '../../../catalog/formula/formula.ts'
import { SHORTEST_SECRET } from '../../../catalog/http/secrets.ts'
import { createMask, type Mask } from '../../../lib/security/redaction.ts'

type Env = ReadonlyMap<string, string>

/**
 * Returns the mask that removes the environment variables used by a chain from what is stored of its rows, or null if
 * the chain uses none.
 */
export function maskOf(definition: Definition, env: Env): Mask | null {
  if (env.size === 0) return null
  const keys = keysIn(definition)
  if (keys.length === 0) return null
  const known = masks.get(env)
  const masksOfEnv = known ?? new WeakMap<Definition, Mask | null>()
  if (known === undefined) masks.set(env, masksOfEnv)
  const made = masksOfEnv.get(definition)
  if (made !== undefined) return made
  const secrets = listUsed(definition, env).filter((value) => value.length >= SHORTEST_SECRET)
  const mask = secrets.length === 0 ? null : createMask(secrets)
  masksOfEnv.set(definition, mask)
  return mask
}

/** Lists the values of the environment variables that a chain names. */
export function listUsed(definition: Definition, env: Env): string[] {
  return keysIn(definition).flatMap((key) => env.get(key) ?? [])
}

// Rows share the definition of their revision, and for a moment the values of their environment.
const masks = new WeakMap<Env, WeakMap<Definition, Mask | null>>()
const keysOfDefinition = new WeakMap<Definition, string[]>()

function keysIn(definition: Definition): string[] {
  const known = keysOfDefinition.get(definition)
  if (known !== undefined) return known
  const texts = definition.actions.map(({ inputs, run_if }) => [inputs, run_if])
  const tokens = listTokens(mapStrings(texts, moveChains))
  const keys = [...new Set(tokens.flatMap(({ token }) => (token.kind === 'env' ? [token.key] : [])))]
  keysOfDefinition.set(definition, keys)
  return keys
}
