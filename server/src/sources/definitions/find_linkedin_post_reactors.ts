import { defineSource } from '../define.ts'
import { apifyReactors, postReactors } from '../systems/linkedin/reactors.ts'

export default defineSource({
  slug: 'find_linkedin_post_reactors',
  name: 'Find who reacted to a LinkedIn post',
  description: 'People who reacted to a post or commented on it, by actors of Apify.',
  mode: 'once',
  shape: postReactors,
  pulls: [apifyReactors],
})
