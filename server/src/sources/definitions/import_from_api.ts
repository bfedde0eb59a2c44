import { defineSource } from '../define.ts'
import { items, pagedItems } from '../systems/http/items.ts'

export default defineSource({
  slug: 'import_from_api',
  name: 'Import from an API',
  description: 'Items of a JSON API over HTTP, page by page.',
  mode: 'either',
  shape: items,
  check: ({ method, json }) =>
    json !== undefined && method === 'GET'
      ? [{ field: 'json', message: 'needs method POST; set method too' }]
      : [],
  pulls: [pagedItems],
})
