import type { FieldError } from '#contract/errors.ts'
import { operatorsFor } from './condition-operators.ts'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'
import { listTokens } from './reference-walk.ts'
import { parseTemplate, soleToken, type Token } from './references.ts'

/** Returns the stored type of a token's value, or undefined if the type is not known. */
export type TypeOf = (token: Token) => string | undefined

/**
 * Returns an error for each operator that the variable's known type does not have (D60). An operator that was `saved`
 * before with the same variable is allowed: a run may have discovered the type since (D87). `path` is the path of the
 * groups.
 */
export function checkOperators(
  groups: ConditionGroup[],
  typeOf: TypeOf,
  path: string,
  saved: readonly ConditionGroup[] = [],
): FieldError[] {
  const nameLeaf = ({ variable, operator }: ConditionLeaf) => `${operator} ${variable}`
  const known = new Set(saved.flatMap(({ conditions }) => conditions.map(nameLeaf)))
  return groups.flatMap((group, outer) =>
    group.conditions.flatMap((leaf, inner) => {
      const { variable, operator } = leaf
      const type = typeOfVariable(variable, typeOf)
      const allowed = operatorsFor(type)
      if (allowed.includes(operator) || known.has(nameLeaf(leaf))) return []
      const field = `${path}[${outer}].conditions[${inner}].operator`
      return [{ field, message: `must be one of: ${allowed.join(', ')} (the variable is of type ${type})` }]
    }),
  )
}

/**
 * Returns the type of a variable that is exactly one token, otherwise undefined. A column has no type here, because it is
 * a list whatever its items are.
 */
export function typeOfVariable(variable: string, typeOf: TypeOf): string | undefined {
  const token = soleToken(parseTemplate(variable))
  return token && token.kind !== 'column' ? typeOf(token) : undefined
}

/**
 * Removes the conditions that use environment variables, which are not allowed in conditions, and the groups that become
 * empty.
 */
export function dropEnvConditions(
  groups: ConditionGroup[],
  path: string,
): { groups: ConditionGroup[]; dropped: string[] } {
  const dropped: string[] = []
  const kept = groups.map((group, outer) => ({
    ...group,
    conditions: group.conditions.filter((leaf, inner) => {
      const usesEnv = listTokens([leaf.variable, leaf.values]).some(({ token }) => token.kind === 'env')
      if (usesEnv) dropped.push(`${path}[${outer}].conditions[${inner}]`)
      return !usesEnv
    }),
  }))
  return { groups: kept.filter((group) => group.conditions.length > 0), dropped }
}
