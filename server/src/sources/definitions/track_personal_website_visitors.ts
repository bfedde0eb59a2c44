import { defineSource } from '../define.ts'
import { rb2b, visitingPeople } from '../systems/visitors/people.ts'

export default defineSource({
  slug: 'track_personal_website_visitors',
  name: 'Track people who visit a website',
  description: 'People that RB2B identifies on your pages and sends to the webhook of the source.',
  mode: 'recurring',
  shape: visitingPeople,
  receives: rb2b,
})
