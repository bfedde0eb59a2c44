import { textOf } from '../../../catalog/chain/references.ts'
import { isObject } from '../../../lib/json/object.ts'

/**
 * Returns the value of a page property without its formatting:
 * https://developers.notion.com/reference/page-property-values
 */
export function readProperty(property: Record<string, unknown> | undefined): unknown {
  if (property === undefined) return null
  const type = String(property['type'])
  const value = property[type]
  switch (type) {
    case 'title':
    case 'rich_text':
      return listOf(value)
        .map((part) => textIn(part, 'plain_text'))
        .join('')
    case 'select':
    case 'status':
      return textIn(value, 'name')
    case 'multi_select':
      return listOf(value).map((one) => textIn(one, 'name'))
    case 'date':
      return isObject(value) && value['end']
        ? { start: value['start'], end: value['end'] }
        : textIn(value, 'start')
    case 'people':
      return listOf(value).map(nameOf)
    case 'created_by':
    case 'last_edited_by':
      return nameOf(value)
    case 'relation':
      return listOf(value).map((one) => textIn(one, 'id'))
    case 'files':
      return listOf(value).map((file) => (isObject(file) ? textIn(file[String(file['type'])], 'url') : null))
    case 'formula':
      return isObject(value) ? readProperty(value) : null
    case 'rollup':
      if (!isObject(value)) return null
      return value['type'] === 'array'
        ? listOf(value['array']).map((one) => (isObject(one) ? readProperty(one) : null))
        : readProperty(value)
    case 'unique_id':
      if (!isObject(value)) return null
      return value['prefix'] ? `${textOf(value['prefix'])}-${textOf(value['number'])}` : value['number']
    case 'verification':
      return textIn(value, 'state')
    default:
      // Numbers, checkboxes, URLs and times are stored unchanged.
      return value ?? null
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function textIn(value: unknown, name: string): unknown {
  return isObject(value) ? (value[name] ?? null) : null
}

/** Returns a user's name. Integrations that may not read users only get ids. */
const nameOf = (user: unknown) => textIn(user, 'name') ?? textIn(user, 'id')
