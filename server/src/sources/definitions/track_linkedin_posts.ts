import { defineSource } from '../define.ts'
import { apifyPosts, checkAuthors, linkedinPosts } from '../systems/linkedin/posts.ts'

export default defineSource({
  slug: 'track_linkedin_posts',
  name: 'Track posts on LinkedIn',
  description: 'New posts of given profiles or with given words, by actors of Apify.',
  mode: 'recurring',
  shape: linkedinPosts,
  check: checkAuthors,
  pulls: [apifyPosts],
})
