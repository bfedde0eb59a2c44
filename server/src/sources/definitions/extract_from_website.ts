import { defineSource } from '../define.ts'
import { checkFields, websiteItems } from '../systems/website/items.ts'
import { websitePages } from '../systems/website/pages.ts'

export default defineSource({
  slug: 'extract_from_website',
  name: 'Extract from a website',
  description:
    'The items that a page lists in JSON-LD, a table or a list, and optionally those of the following pages.',
  mode: 'either',
  shape: websiteItems,
  check: checkFields,
  pulls: [websitePages],
})
