import { defineSource } from '../define.ts'
import { checkFields, websiteItems } from '../systems/website/items.ts'
import { websitePages } from '../systems/website/pages.ts'

export default defineSource({
  slug: 'extract_from_website',
  name: 'Extract from a website',
  description:
    'What a page lists in JSON-LD, a table or a list, with the pages behind it where that is wanted.',
  mode: 'either',
  shape: websiteItems,
  check: checkFields,
  pulls: [websitePages],
})
