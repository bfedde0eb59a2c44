import type { FieldError } from '#contract/errors.ts'
import { operatorsFor } from './condition-operators.ts'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'
import { listTokens } from './reference-walk.ts'
import { parseTemplate, soleToken, type Token } from './references.ts'

/** The stored type of what a token names; undefined while it is not known. */
export type TypeOf = (token: Token) => string | undefined

/**
 * D60: an operator that the variable's known type does not have is an error, unless the same was `saved` before: runs may have shown
 * the type since (D87). `path` is that of the groups.
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

/** Unknown for anything but one whole token, and for a column, which is a list whatever its items are. */
export function typeOfVariable(variable: string, typeOf: TypeOf): string | undefined {
  const token = soleToken(parseTemplate(variable))
  return token && token.kind !== 'column' ? typeOf(token) : undefined
}

/** Conditions cannot use environment variables: those that do are left out, and groups that become empty too. */
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
