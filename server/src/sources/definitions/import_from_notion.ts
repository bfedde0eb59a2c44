import { defineSource } from '../define.ts'
import { databasePages, notionOptions, pages } from '../systems/notion/pages.ts'

export default defineSource({
  slug: 'import_from_notion',
  name: 'Import from Notion',
  description: 'Pages of a database with their properties; on a schedule, those that were edited.',
  mode: 'either',
  shape: pages,
  pulls: [databasePages],
  options: notionOptions,
})
