import { defineSource } from '../define.ts'
import { apifyPosts, checkWhose, linkedinPosts } from '../systems/linkedin/posts.ts'

export default defineSource({
  slug: 'track_linkedin_posts',
  name: 'Track posts on LinkedIn',
  description: 'New posts of some profiles, or with some words, by actors of Apify.',
  mode: 'recurring',
  shape: linkedinPosts,
  check: checkWhose,
  pulls: [apifyPosts],
})
