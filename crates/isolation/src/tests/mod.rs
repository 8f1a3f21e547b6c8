mod canaries;
mod model;
