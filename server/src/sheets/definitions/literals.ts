import { isObject } from '../../lib/json/object.ts'

/** Stands in a file for a credential that is left as it is stored. */
const KEPT = 'kept'

/** Names of fields, headers and parameters whose values are credentials. */
const NAMED =
  /(?:^|[^a-z])(?:api_?key|apikey|access_?key|private_?key|token|secret|password|passwd|authorization|credentials?|cookie)(?:$|[^a-z])/

/** Shapes of credentials: those of well-known services, JSON web tokens, private keys, addresses with a password. */
const SHAPED =
  /^(?:(?:Bearer|Basic|Token) \S{8}|(?:sk|pk|rk|whsec|ghp|gho|ghs|glpat|pat|xox[abpr])[-_][A-Za-z0-9]|github_pat_|AKIA[0-9A-Z]{12}|AIza[\w-]{20}|ya29\.|eyJ[\w-]{8,}\.|-----BEGIN |https?:\/\/[^/@\s:]{1,200}:[^/@\s]{1,200}@)/

/** Returns whether a text in a configuration is a credential that was written out. `name` is the field that holds it. */
export function isCredential(name: string, text: string): boolean {
  if (text.trim() === '' || text.includes('{{')) return false
  const plain = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return SHAPED.test(text) || NAMED.test(plain.replaceAll('-', '_'))
}

export const isKeptSecret = (value: unknown): boolean =>
  isObject(value) && value['secret'] === KEPT && Object.keys(value).length === 1

export const keptSecret = () => ({ secret: KEPT })

/** Returns the value at the same place of another configuration: items of lists are found by their name, or else by place. */
export function valueBeside(container: unknown, key: string, item: unknown): unknown {
  if (Array.isArray(container)) {
    const name = isObject(item) ? item['name'] : undefined
    const named =
      typeof name === 'string' ? container.find((one) => isObject(one) && one['name'] === name) : undefined
    return named ?? container[Number(key)]
  }
  return isObject(container) && Object.hasOwn(container, key) ? container[key] : undefined
}
