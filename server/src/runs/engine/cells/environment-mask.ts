import type { Definition } from '../../../catalog/chain/definition.ts'
import { listTokens, mapStrings } from '../../../catalog/chain/reference-walk.ts'
import { moveChains } from '../../../catalog/formula/formula.ts'
import { SHORTEST_SECRET } from '../../../catalog/http/secrets.ts'
import { createMask, type Mask } from '../../../lib/security/redaction.ts'

type Env = ReadonlyMap<string, string>

/** Lists the values of the environment variables that a chain names. */
export const listUsed = onceForEach((definition, env): readonly string[] =>
  keysIn(definition).flatMap((key) => env.get(key) ?? []),
)

/**
 * Returns the mask that removes the environment variables used by a chain from what is stored of its rows, or null if
 * the chain uses none.
 */
export const maskOf = onceForEach((definition, env): Mask | null => {
  const secrets = listUsed(definition, env).filter((value) => value.length >= SHORTEST_SECRET)
  return secrets.length === 0 ? null : createMask(secrets)
})

/** Rows share the definition of their revision, and for a moment the values of their environment. */
function onceForEach<Made>(make: (definition: Definition, env: Env) => Made) {
  const known = new WeakMap<Env, WeakMap<Definition, Made>>()
  return (definition: Definition, env: Env): Made => {
    const ofEnv = known.get(env) ?? new WeakMap<Definition, Made>()
    known.set(env, ofEnv)
    let made = ofEnv.get(definition)
    if (made === undefined) ofEnv.set(definition, (made = make(definition, env)))
    return made
  }
}

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
