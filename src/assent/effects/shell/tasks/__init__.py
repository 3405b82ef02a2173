"""Tasks of a project (make, npm, just and others): the manifests that define them, and the commands that they run."""
