import { defineSource } from '../define.ts'
import { rb2b, visitingPeople } from '../systems/visitors/people.ts'

export default defineSource({
  slug: 'track_personal_website_visitors',
  name: 'Track people who visit a website',
  description: 'People whom RB2B identifies on your pages and posts to the address of the source.',
  mode: 'recurring',
  shape: visitingPeople,
  receives: rb2b,
})
