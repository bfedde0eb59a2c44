export type NamedParameters = {
  text: string
  /** The names in the order in which their values are sent. */
  names: readonly string[]
}

/**
 * Replaces named parameters of a statement, as in `@rows::uuid[]`, by their places. A parameter that the statement does
 * not use gets no place.
 */
export function nameParameters(statement: string): NamedParameters {
  const names: string[] = []
  const placeOf = (name: string) => {
    const known = names.indexOf(name)
    return known === -1 ? names.push(name) : known + 1
  }
  const text = statement.replaceAll(/@([a-z]\w*)/gi, (_, name: string) => `$${placeOf(name)}`)
  return { text, names }
}
