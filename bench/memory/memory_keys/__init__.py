"""In which order the keys of the workloads with many keys are asked for."""
